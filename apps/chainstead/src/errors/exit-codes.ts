export const EXIT_CODE_OK = 0;
export const EXIT_CODE_FAILED = 1;
/** The command line or configuration is invalid: a retry fails again. */
export const EXIT_CODE_USAGE = 2;
/** Not everything is proven. */
export const EXIT_CODE_UNPROVEN = 3;
