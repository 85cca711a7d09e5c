import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';

export interface RoleExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RoleReady {
  readonly role: RoleName;
  /** Listening address; null for roles without one. */
  readonly address: string | null;
}

export interface RoleProcessHandle {
  readonly pid: number;
  /** Resolves when the role is ready; never if it ends before. */
  readonly ready: Promise<RoleReady>;
  readonly exited: Promise<RoleExit>;
  stop(options?: StopOptions): void;
  kill(): void;
}
