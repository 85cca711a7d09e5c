/** The parts that the program has. */
export const ROLE_NAMES = ['api', 'ingest', 'worker'] as const;

/** A part of the program that can run in a separate process. */
export type RoleName = (typeof ROLE_NAMES)[number];
