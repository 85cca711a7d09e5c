import { ChainsteadError, defineError, errorText } from '@chainstead/core';
import { EXIT_CODE_FAILED, EXIT_CODE_UNPROVEN, EXIT_CODE_USAGE } from './exit-codes.ts';

const REMEDIES: Readonly<Record<string, string>> = {
  '28': 'Check the role and password in the database URL',
  '3D000': 'Create the database, or run "chainstead provision"',
  '42P01': 'The database has not been prepared. Run "chainstead migrate"',
  '42501': 'Grant the right to the role of the database URL, or run "chainstead provision"',
  '53': 'Check the memory, disk and connections of the Postgres server',
  '57': 'Run the command again',
};

const SYSTEM_REMEDIES: Readonly<Record<string, string>> = {
  ENOENT: 'Check the path',
  EACCES: 'Give this user access to the path',
  EPERM: 'Give this user access to the path',
  EISDIR: 'Name a file',
  ENOTDIR: 'Name a folder',
  ENOSPC: 'Free disk space',
  ECONNREFUSED: 'Check that the server runs and its address is right',
  ENOTFOUND: 'Check the name of the server',
};

/** For people: own errors as a sentence, others with their stack. */
export function describeError(thrown: unknown): string {
  if (thrown instanceof ChainsteadError) return `${thrown.message} [${thrown.code}]`;
  // An error of Postgres.
  if (thrown instanceof Error && 'severity' in thrown && 'code' in thrown) {
    const sqlstate = String(thrown.code);
    const remedy = REMEDIES[sqlstate] ?? REMEDIES[sqlstate.slice(0, 2)];
    return `Postgres refused a statement: ${thrown.message}.${remedy === undefined ? '' : ` ${remedy}`} [${sqlstate}]`;
  }
  if (thrown instanceof Error && 'syscall' in thrown && 'code' in thrown) {
    const remedy = SYSTEM_REMEDIES[String(thrown.code)];
    return `${errorText(thrown)}${remedy === undefined ? '' : `. ${remedy}`} [${String(thrown.code)}]`;
  }
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : errorText(thrown);
}

const USAGE_CODES: ReadonlySet<string> = new Set([
  'USAGE',
  'CONFIGURATION_INVALID',
  'CONFIGURATION_FILE',
  'CONTRACTS_FILE_INVALID',
  'UNSAFE_BINDING',
  'LISTEN_FAILED',
  'ROLE_FAILED',
  'UNKNOWN_CHAIN',
  'EXPORT_TABLE_UNKNOWN',
  'EXPORT_MANIFEST_MISMATCH',
  'JOBS_REDIS_EVICTS',
  'STANDBYS_OF_CLUSTER',
]);

export function exitCodeOf(thrown: unknown): number {
  if (thrown instanceof ChainsteadError && thrown.code === 'PRICE_UNPROVEN') return EXIT_CODE_UNPROVEN;
  return thrown instanceof ChainsteadError && USAGE_CODES.has(thrown.code) ? EXIT_CODE_USAGE : EXIT_CODE_FAILED;
}

export interface ListenFailure {
  readonly host: string;
  readonly port: number;
  readonly key?: string;
  readonly hostKey?: string;
  readonly cause: unknown;
}

export class ListenError extends defineError(
  'LISTEN_FAILED',
  ({ host, port, key = 'PORT', hostKey = 'HOST', cause }: ListenFailure) => ({
    message: `Can't listen on ${host}:${port} (${key}): ${errorText(cause)}`,
    facts: { host, port, key },
    remedy: remedyFor(cause, key, hostKey),
    cause,
  }),
) {}

function remedyFor(cause: unknown, key: string, hostKey: string): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `Set ${hostKey} to an address of this machine, for example 127.0.0.1, or 0.0.0.0 for all addresses`;
  if (code === 'EACCES') return `Set ${key} to a port above 1023. This user may not open a lower one`;
  const free = key === 'APTOS_TESTNET_PORT' ? '' : ' (0 uses a free port)';
  return `Stop the other program on this port, or set another ${key}${free}`;
}
