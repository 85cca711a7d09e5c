import { type ChildProcess, type ForkOptions, fork } from 'node:child_process';
import cluster from 'node:cluster';
import { fileURLToPath } from 'node:url';
import type { RoleSlot } from '../shares/role-slot.ts';
import { parseRoleMessage, type RoleMessage } from './metrics-exchange.ts';
import type { RoleExit, RoleProcessHandle, RoleReady } from './supervisor.ts';

const ENTRY = fileURLToPath(new URL('../role-process.ts', import.meta.url));

export interface LaunchOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  onMessage(message: RoleMessage): void;
}

export interface LaunchedRole extends RoleProcessHandle {
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
    // For a started process, an undelivered message; its exit event follows.
    if (child.pid === undefined) exited.resolve({ code: null, signal: null });
  });
  const send = (message: RoleMessage): void => {
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

function forkAlone(slot: RoleSlot, { environment }: LaunchOptions): ChildProcess {
  return fork(ENTRY, argumentsOf(slot), { ...channelOf(slot), env: { ...environment } });
}

/** Ports open here: with SO_REUSEPORT, Linux resets queued connections of an ending process. */
function forkOntoSharedPort(slot: RoleSlot, { environment }: LaunchOptions): ChildProcess {
  cluster.setupPrimary({ ...channelOf(slot), exec: ENTRY, args: argumentsOf(slot) });
  // `fork` adds variables of this process: others must be removed.
  const withheld = Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined]));
  const worker = cluster.fork({ ...withheld, ...environment });
  // Reported by the process; unhandled, it would end this one.
  worker.on('error', () => undefined);
  return worker.process;
}

function argumentsOf({ role, number, of }: RoleSlot): string[] {
  return [role, String(number), String(of)];
}

/** bin/chainstead.js has a value for ingest. V8 takes the last of equal flags. */
const SERVING_FLAG = '--max-semi-space-size=64';

type Channel = Pick<ForkOptions, 'serialization' | 'execArgv'> & { stdio: ('ignore' | 'inherit' | 'ipc')[] };

function channelOf({ role }: RoleSlot): Channel {
  const { execArgv } = process;
  const isSized = execArgv.some((flag) => flag.startsWith('--max-semi-space-size='));
  return {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // JSON would escape megabytes of quoted metrics.
    serialization: 'advanced',
    execArgv: role === 'ingest' || !isSized ? execArgv : [...execArgv, SERVING_FLAG],
  };
}
