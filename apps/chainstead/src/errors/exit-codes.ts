export const EXIT_CODE_OK = 0;
export const EXIT_CODE_FAILED = 1;
/** 2: the command line or the configuration can't be used; trying again won't help. */
export const EXIT_CODE_USAGE = 2;
/** 3: nothing is wrong, but not everything is proven. */
export const EXIT_CODE_UNPROVEN = 3;
