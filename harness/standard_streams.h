/* standard_streams.h - standard input, output and error, whatever state they were handed over in.
 */
#ifndef LM_STANDARD_STREAMS_H
#define LM_STANDARD_STREAMS_H

/* Puts a stand-in where one of the three was closed (`2>&-`, some job schedulers). Otherwise the
 * next file opened would get its number, and messages would be written into a results file. A
 * stand-in refuses, so what is printed on it fails as before. First thing in main. 0 or a negative
 * errno. */
int lm_standard_streams_hold(void);

/* Last thing in main: the program's exit code, or 2 after one line on standard error when what was
 * printed on standard output could not be written. `code` 2 was explained already. */
int lm_standard_streams_end(int code);

#endif
