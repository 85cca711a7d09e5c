import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';

export interface RoleExit {
  readonly code: number | null;
  readonly signal: string | null;
}

export interface RoleReady {
  readonly role: RoleName;
  /** Null for roles without one. */
  readonly address: string | null;
}

export interface RoleProcessHandle {
  readonly pid: number;
  /** Never resolves if the role ends before. */
  readonly ready: Promise<RoleReady>;
  readonly exited: Promise<RoleExit>;
  stop(options?: StopOptions): void;
  kill(): void;
}
