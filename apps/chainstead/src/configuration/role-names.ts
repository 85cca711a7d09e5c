export const ROLE_NAMES = ['api', 'ingest', 'worker'] as const;

export type RoleName = (typeof ROLE_NAMES)[number];

export interface RoleProcesses {
  readonly role: RoleName;
  /** auto: one per CPU core. */
  readonly processes: number | 'auto';
}
