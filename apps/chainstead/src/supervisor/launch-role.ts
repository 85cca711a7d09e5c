import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RoleName } from '../configuration/index.ts';
import { parseRoleMessage, type RoleMessage } from './role-messages.ts';
import type { RoleExit, RoleProcessHandle, RoleReady } from './role-process-handle.ts';

const ENTRY = fileURLToPath(new URL('../role-process.ts', import.meta.url));

export interface LaunchOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What the process says besides being ready. */
  onMessage(message: RoleMessage): void;
}

/** A role's process that can be talked to. */
export interface LaunchedRole extends RoleProcessHandle {
  /** Does nothing when the process is gone. */
  send(message: RoleMessage): void;
}

/** Starts the process of one role with an IPC channel; its output goes where ours goes. */
export function launchRole(role: RoleName, options: LaunchOptions): LaunchedRole {
  const child = fork(ENTRY, [role], {
    env: { ...options.environment },
    execArgv: flagsOf(role, process.execArgv),
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // Metrics are megabytes of text with quotes, which JSON would escape and read again one by one.
    serialization: 'advanced',
  });
  const ready = Promise.withResolvers<RoleReady>();
  const exited = Promise.withResolvers<RoleExit>();
  child.on('message', (value) => {
    const message = parseRoleMessage(value);
    if (message?.type === 'ready') ready.resolve({ role: message.role, address: message.address });
    else if (message !== null) options.onMessage(message);
  });
  child.on('exit', (code, signal) => exited.resolve({ code, signal }));
  // The process could not be started at all.
  child.on('error', () => exited.resolve({ code: null, signal: null }));
  const send = (message: RoleMessage): void => {
    // The channel may close between the look and the call; then the process is ending anyway.
    if (child.connected) child.send(message, () => undefined);
  };
  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    exited: exited.promise,
    stop: () => send({ type: 'stop' }),
    kill: () => child.kill('SIGKILL'),
    send,
  };
}

/** As bin/chainstead.js has them, which gives all roles what suits ingest. Of the same flag V8 takes the last. */
const SERVING_FLAG = '--max-semi-space-size=64';

function flagsOf(role: RoleName, inherited: readonly string[]): string[] {
  const isSized = inherited.some((flag) => flag.startsWith('--max-semi-space-size='));
  return role === 'ingest' || !isSized ? [...inherited] : [...inherited, SERVING_FLAG];
}
