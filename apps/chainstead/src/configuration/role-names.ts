export const ROLE_NAMES = ['api', 'ingest', 'worker'] as const;

export type RoleName = (typeof ROLE_NAMES)[number];
