import type { ChainRegistry } from '@chainstead/chains';
import { type GatewayUsage, readGatewayUsage } from '@chainstead/gateway';
import {
  createKeyStore,
  DEFAULT_SCOPES,
  KEY_SCOPES,
  type KeyScopes,
  type KeyStore,
  parseScopes,
} from '@chainstead/http';
import type { Command } from 'commander';
import { UsageError } from '../errors/usage-error.ts';
import { commandActor } from '../session/command-actor.ts';
import type { CommandContext } from '../session/command-context.ts';
import { withStorage } from '../session/command-session.ts';
import { readDatabaseConfiguration } from '../session/read-configuration.ts';
import { renderTable } from '../text/text-table.ts';

const DAYS_MAX = 3_650;

export function createKey(
  options: { readonly name: string; readonly scope?: readonly string[] },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const scopes = scopesOf(options.scope ?? DEFAULT_SCOPES);
  return withKeys(command, context, async (keys) => {
    const { key } = await keys.create(options.name, scopes, commandActor());
    // stdout contains only the key, for scripts.
    context.stdout.write(`${key}\n`);
    context.stderr.write('This key is shown once. Send it as X-API-Key, or as "Authorization: Bearer …".\n');
    context.stderr.write(`Scopes: ${[...scopes].join(', ')}.\n`);
  });
}

export function listKeys(
  options: { readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  return withKeys(command, context, async (keys) => {
    const stored = await keys.list();
    if (options.json === true) {
      context.stdout.write(`${JSON.stringify(stored)}\n`);
      return;
    }
    const rows = stored.map((key) => [
      `${key.prefix}…`,
      key.name,
      key.scopes.join(','),
      key.createdAt.toISOString(),
      key.revokedAt?.toISOString() ?? 'active',
    ]);
    context.stdout.write(renderTable(['key', 'name', 'scopes', 'created', 'revoked'], rows));
  });
}

export function setKeyScopes(
  key: string,
  options: { readonly scope: readonly string[] },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const scopes = scopesOf(options.scope);
  return withKeys(command, context, async (keys) => {
    const changed = await keys.setScopes(key, scopes, commandActor());
    context.stdout.write(`${changed.prefix}… (${changed.name}) now has the scopes: ${changed.scopes.join(', ')}.\n`);
  });
}

function scopesOf(names: readonly string[]): KeyScopes {
  const scopes = parseScopes(names);
  if (scopes !== null) return scopes;
  const given = names.join(',');
  throw new UsageError(`--scope ${given} is not valid`, `Use a comma list of ${KEY_SCOPES.join(', ')}`, { given });
}

export function revokeKey(key: string, command: Command, context: CommandContext): Promise<void> {
  return withKeys(command, context, async (keys) => {
    const revoked = await keys.revoke(key, commandActor());
    context.stdout.write(`Revoked ${revoked.prefix}… (${revoked.name}).\n`);
  });
}

export async function showUsage(
  options: { readonly days: string; readonly json?: boolean },
  command: Command,
  context: CommandContext,
): Promise<void> {
  const days = parseDays(options.days);
  const configuration = readDatabaseConfiguration(command, context);
  await withStorage({ configuration, context, name: 'keys usage' }, async ({ database }) => {
    const usage = await readGatewayUsage(database, days);
    if (options.json === true) context.stdout.write(`${JSON.stringify(usage)}\n`);
    else context.stdout.write(renderUsage(usage, configuration.chainRegistry));
  });
}

function parseDays(given: string): number {
  const days = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw new UsageError(`--days ${given} is not valid`, `Use a whole number from 1 to ${DAYS_MAX}`, { given });
}

function renderUsage(usage: readonly GatewayUsage[], chains: ChainRegistry): string {
  const groups = Map.groupBy(usage, ({ keyId, chainId, method }) => JSON.stringify([keyId, chainId, method]));
  const rows = [...groups.values()].flatMap((days) => {
    const [first] = days;
    if (first === undefined) return [];
    const sum = (count: 'calls' | 'errors' | 'cached' | 'weight' | 'bytes'): number =>
      days.reduce((total, day) => total + day[count], 0);
    const chain = chains.find(first.chainId)?.key ?? String(first.chainId);
    return [
      [
        first.keyId,
        chain,
        first.method,
        sum('calls'),
        sum('errors'),
        sum('cached'),
        sum('weight'),
        sum('bytes'),
      ] as const,
    ];
  });
  const largestFirst = rows.toSorted((a, b) => a[0].localeCompare(b[0]) || b[3] - a[3]);
  return renderTable(['key', 'chain', 'method', 'calls', 'errors', 'cached', 'weight', 'bytes'], largestFirst);
}

function withKeys(command: Command, context: CommandContext, work: (keys: KeyStore) => Promise<void>): Promise<void> {
  const configuration = readDatabaseConfiguration(command, context);
  return withStorage({ configuration, context, name: 'keys' }, ({ database }) =>
    work(createKeyStore({ database, configured: configuration.api.keys })),
  );
}
