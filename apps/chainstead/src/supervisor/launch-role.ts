import { type ChildProcess, fork } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { RoleSlot } from '../shares/role-slot.ts';
import { parseRoleMessage, type RoleMessage } from './role-messages.ts';
import type { RoleExit, RoleProcessHandle, RoleReady } from './role-process-handle.ts';

const ENTRY = fileURLToPath(new URL('../role-process.ts', import.meta.url));

export interface LaunchOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  onMessage(message: RoleMessage): void;
}

export interface LaunchedRole extends RoleProcessHandle {
  /** Does nothing when the process is gone. */
  send(message: RoleMessage): void;
}

export function launchRole(slot: RoleSlot, options: LaunchOptions): LaunchedRole {
  const child = slot.role === 'api' ? forkOntoSharedPort(slot, options) : forkAlone(slot, options);
  const ready = Promise.withResolvers<RoleReady>();
  const exited = Promise.withResolvers<RoleExit>();
  child.on('message', (value) => {
    const message = parseRoleMessage(value);
    if (message?.type === 'ready') ready.resolve({ role: message.role, address: message.address });
    else if (message !== null) options.onMessage(message);
  });
  child.on('exit', (code, signal) => exited.resolve({ code, signal }));
  child.on('error', () => {
    // For a started process, the error is an undelivered message; its exit event follows separately.
    if (child.pid === undefined) exited.resolve({ code: null, signal: null });
  });
  const send = (message: RoleMessage): void => {
    // The channel may close between the check and the call. Then the process is ending anyway.
    if (child.connected) child.send(message, () => undefined);
  };
  return {
    pid: child.pid ?? 0,
    ready: ready.promise,
    exited: exited.promise,
    stop: ({ idleGraceMs = 0 } = {}) => send({ type: 'stop', idleGraceMs }),
    kill: () => child.kill('SIGKILL'),
    send,
  };
}

const CHANNEL = {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  // Metrics are megabytes of text with quotes, which JSON would escape and read again one by one.
  serialization: 'advanced',
} as const;

function forkAlone(slot: RoleSlot, { environment }: LaunchOptions): ChildProcess {
  return fork(ENTRY, argumentsOf(slot), {
    ...CHANNEL,
    stdio: [...CHANNEL.stdio],
    env: { ...environment },
    execArgv: flagsOf(slot, process.execArgv),
  });
}

/**
 * Starts a process whose ports are opened here, and whose connections are distributed here, in turn to free processes. With one socket
 * per process (SO_REUSEPORT), Linux would reset queued connections of an ending process, macOS would not distribute connections, and
 * another program of the same user could share the port unnoticed.
 */
function forkOntoSharedPort(slot: RoleSlot, { environment }: LaunchOptions): ChildProcess {
  cluster.setupPrimary({
    ...CHANNEL,
    stdio: [...CHANNEL.stdio],
    exec: ENTRY,
    args: argumentsOf(slot),
    execArgv: flagsOf(slot, process.execArgv),
  });
  // `fork` adds the variables of this process. Variables that are not passed must be removed.
  const withheld = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const worker = cluster.fork({ ...withheld, ...environment });
  // The process reports it too. Without a listener here, the error would end this process.
  worker.on('error', () => undefined);
  return worker.process;
}

function argumentsOf({ role, number, of }: RoleSlot): string[] {
  return [role, String(number), String(of)];
}

/** As bin/chainstead.js has them, which suits ingest. V8 takes the last of several equal flags. */
const SERVING_FLAG = '--max-semi-space-size=64';

function flagsOf({ role }: RoleSlot, inherited: readonly string[]): string[] {
  const isSized = inherited.some((flag) => flag.startsWith('--max-semi-space-size='));
  return role === 'ingest' || !isSized ? [...inherited] : [...inherited, SERVING_FLAG];
}
