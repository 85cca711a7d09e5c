import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defineError } from '@chainstead/core';
import { UsageError } from '../errors/usage-error.ts';
import type { CommandContext, Invocation } from '../session/command-context.ts';
import type { Storage } from '../session/storage.ts';
import { withFoundDatabase } from '../session/with-database.ts';

class PsqlMissingError extends defineError('PSQL_MISSING', () => ({
  message: 'psql is not installed',
  remedy:
    "Install it (Debian's package postgresql-client, libpq with Homebrew), or use the address that `chainstead psql --url` prints in another SQL client",
})) {}

class PsqlFailedError extends defineError('PSQL_FAILED', (exitCode: number | null) => ({
  message: `psql ended ${exitCode === null ? 'by a signal' : `with exit code ${exitCode}`}`,
  remedy: 'Its own message is above: change the query or the options',
  facts: { exitCode },
})) {}

interface PsqlOptions {
  readonly superuser?: boolean;
  readonly url?: boolean;
}

/** Connects psql to the configured database, or prints its address. @throws PsqlMissingError, PsqlFailedError */
export function runPsql(invocation: Invocation<PsqlOptions>, args: readonly string[]): Promise<void> {
  const { options, context } = invocation;
  return withFoundDatabase(
    invocation,
    'psql',
    async (storage, { database }) => {
      const address = options.superuser === true ? superuserUrlOf(storage, database.superuserUrl) : storage.url;
      if (options.url === true) return void context.stdout.write(`${address}\n`);
      context.leaveInterrupts?.();
      const exitCode = await exitCodeOfPsql(address, args, context);
      // The address has a password, so only --url prints it.
      if (exitCode === 'missing') throw new PsqlMissingError();
      if (exitCode !== 0) throw new PsqlFailedError(exitCode);
    },
    { leavesSchema: true },
  );
}

function superuserUrlOf({ isEmbedded, roleMakerUrl }: Storage, configured: string | null): string {
  if (isEmbedded) return roleMakerUrl;
  if (configured !== null) return configured;
  throw new UsageError(
    'DATABASE_SUPERUSER_URL is not set',
    'Set it to a superuser on the server of DATABASE_URL, or unset DATABASE_URL to connect to the embedded Postgres',
  );
}

async function exitCodeOfPsql(
  address: string,
  args: readonly string[],
  { environment, stopSignal: signal }: Pick<CommandContext, 'environment' | 'stopSignal'>,
): Promise<number | null | 'missing'> {
  // Every user of the machine sees arguments, so the password is a variable.
  const [, before = '', password = '', after = ''] = /^(\w+:\/\/[^:@/]+):([^@/]*)(@.*)$/.exec(address) ?? [];
  const [target, env] =
    before === ''
      ? [address, environment]
      : [`${before}${after}`, { ...environment, PGPASSWORD: decodeURIComponent(password) }];
  try {
    const [exitCode] = await once(spawn('psql', [target, ...args], { stdio: 'inherit', env, signal }), 'exit');
    return exitCode;
  } catch (error) {
    if (signal.aborted) return null;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 'missing';
    throw error;
  }
}
