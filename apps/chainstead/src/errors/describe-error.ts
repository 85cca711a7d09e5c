import { ChainsteadError, errorText } from '@chainstead/core';

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
