/* assets.h - the style and script files of this folder, as the build put them into the program.
 */
#ifndef LM_ASSETS_H
#define LM_ASSETS_H

extern const char lm_asset_chart_css[]; /* of charts, in a page and alone */
extern const char lm_asset_page_css[];  /* of HTML pages */
extern const char lm_asset_page_js[];   /* what a page does beyond being read */

#endif
