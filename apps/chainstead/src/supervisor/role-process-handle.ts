import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';

/** How a process ended. */
export interface RoleExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Report of a role that is ready. */
export interface RoleReady {
  readonly role: RoleName;
  /** Listening address; null for roles without one. */
  readonly address: string | null;
}

/** A running process of one role, as the supervisor sees it. */
export interface RoleProcessHandle {
  readonly pid: number;
  /** Resolves when the role is ready; never if it ends before. */
  readonly ready: Promise<RoleReady>;
  readonly exited: Promise<RoleExit>;
  /** Requests a graceful stop. */
  stop(options?: StopOptions): void;
  /** Kills it immediately. */
  kill(): void;
}
