import manifest from '../package.json' with { type: 'json' };

/** Of the program, as in its package.json. */
export const VERSION: string = manifest.version;
