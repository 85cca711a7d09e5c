import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const ATTEMPTS_MAX = 200;
const PAUSE_MS = 25;

/**
 * Starts a server program of the machine, of `PATH` or of where Debian keeps servers.
 * @param port where it answers on 127.0.0.1 once it has started
 * @returns undefined when the machine has no such program
 * @throws Error when it ends, or never answers
 */
export async function startServerProcess(
  program: string,
  flags: readonly string[],
  port: number,
): Promise<ChildProcess | undefined> {
  const child = spawn(program, flags, {
    stdio: 'ignore',
    cwd: '/',
    env: { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` },
  });
  const isThere = await Promise.race([
    once(child, 'spawn').then(() => true),
    once(child, 'error').then(() => false),
  ]).catch(() => false);
  if (!isThere) return undefined;
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    if (child.exitCode !== null) throw new Error(`${program} ended with ${child.exitCode}`);
    if (await answers(port)) return child;
    await delay(PAUSE_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`${program} does not answer on port ${port}`);
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}

/** Ends a process at once and waits for its end; fine when it has ended already. */
export async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
