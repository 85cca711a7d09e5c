import type { RoleName } from '../configuration/index.ts';
import type { StopOptions } from '../roles/role.ts';

/** How a process ended. */
export interface RoleExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What a role tells once it works. */
export interface RoleReady {
  readonly role: RoleName;
  /** Where it listens; null for roles that don't. */
  readonly address: string | null;
}

/** A running process of one role, as the supervisor sees it. */
export interface RoleProcessHandle {
  readonly pid: number;
  /** Resolves when the role works; never when it ends before. */
  readonly ready: Promise<RoleReady>;
  readonly exited: Promise<RoleExit>;
  /** Asks for a graceful end. */
  stop(options?: StopOptions): void;
  /** Ends it at once. */
  kill(): void;
}
