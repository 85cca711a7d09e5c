import type { ChainRegistry } from '@chainstead/chains';
import { type GatewayUsage, readGatewayUsage } from '@chainstead/gateway';
import { DEFAULT_SCOPES, KEY_SCOPES, type KeyScopes, parseScopes } from '@chainstead/http';
import { createKeyStore, type KeyStore } from '@chainstead/http/server';
import { UsageError } from '../errors/usage-error.ts';
import type { Invocation, JsonOption } from '../session/command-context.ts';
import { commandActor } from '../session/command-session.ts';
import { withDatabase, writeShown } from '../session/with-database.ts';
import { renderTable } from '../text/text-table.ts';

const DAYS_MAX = 3_650;

interface CreateOptions {
  readonly name: string;
  readonly scope?: readonly string[];
}

export function createKey(invocation: Invocation<CreateOptions>): Promise<void> {
  const { options, context } = invocation;
  const scopes = scopesOf(options.scope ?? DEFAULT_SCOPES);
  return withKeys(invocation, async (keys) => {
    const { key } = await keys.create(options.name, scopes, commandActor());
    context.stdout.write(`${key}\n`);
    context.stderr.write('This key is shown once. Send it as X-API-Key, or as "Authorization: Bearer …".\n');
    context.stderr.write(`Scopes: ${[...scopes].join(', ')}.\n`);
  });
}

export function listKeys(invocation: Invocation<JsonOption>): Promise<void> {
  return withKeys(invocation, async (keys) => {
    const stored = await keys.list();
    const rows = stored.map((key) => [
      `${key.prefix}…`,
      key.name,
      key.scopes.join(','),
      key.createdAt.toISOString(),
      key.revokedAt?.toISOString() ?? 'active',
    ]);
    writeShown(invocation, stored, renderTable(['key', 'name', 'scopes', 'created', 'revoked'], rows));
  });
}

export function setKeyScopes(
  invocation: Invocation<{ readonly scope: readonly string[] }>,
  key: string,
): Promise<void> {
  const { options, context } = invocation;
  const scopes = scopesOf(options.scope);
  return withKeys(invocation, async (keys) => {
    const changed = await keys.setScopes(key, scopes, commandActor());
    context.stdout.write(
      `${changed.prefix}… (${changed.name}) now has the scopes: ${changed.scopes.join(', ')}.\n`,
    );
  });
}

function scopesOf(names: readonly string[]): KeyScopes {
  const scopes = parseScopes(names);
  if (scopes !== null) return scopes;
  const given = names.join(',');
  throw new UsageError(`--scope ${given} is not valid`, `Use a comma list of ${KEY_SCOPES.join(', ')}`, {
    given,
  });
}

export function revokeKey(invocation: Invocation, key: string): Promise<void> {
  const { context } = invocation;
  return withKeys(invocation, async (keys) => {
    const revoked = await keys.revoke(key, commandActor());
    context.stdout.write(`Revoked ${revoked.prefix}… (${revoked.name}).\n`);
  });
}

export async function showUsage(invocation: Invocation<JsonOption & { readonly days: string }>): Promise<void> {
  const { options } = invocation;
  const days = /^\d{1,4}$/.test(options.days) ? Number(options.days) : 0;
  if (days < 1 || days > DAYS_MAX) {
    const given = options.days;
    throw new UsageError(`--days ${given} is not valid`, `Use a whole number from 1 to ${DAYS_MAX}`, { given });
  }
  await withDatabase(invocation, 'keys usage', async ({ database }, configuration) => {
    const usage = await readGatewayUsage(database, days);
    writeShown(invocation, usage, renderUsage(usage, configuration.chainRegistry));
  });
}

function renderUsage(usage: readonly GatewayUsage[], chains: ChainRegistry): string {
  const groups = Map.groupBy(usage, ({ keyId, chainId, method }) => JSON.stringify([keyId, chainId, method]));
  const sums = [...groups.values()].flatMap((days) => {
    const counts = COUNTS.map((count) => days.reduce((total, day) => total + day[count], 0));
    return days.slice(0, 1).map((first) => ({ first, counts }));
  });
  const byKey = sums.toSorted(
    (a, b) => a.first.keyId.localeCompare(b.first.keyId) || (b.counts[0] ?? 0) - (a.counts[0] ?? 0),
  );
  const rows = byKey.map(({ first: { keyId, chainId, method }, counts }) => [
    ...[keyId, chains.find(chainId)?.key ?? String(chainId), method],
    ...counts,
  ]);
  return renderTable(['key', 'chain', 'method', ...COUNTS], rows);
}

const COUNTS = ['calls', 'errors', 'cached', 'weight', 'bytes'] as const;

function withKeys(invocation: Invocation, work: (keys: KeyStore) => Promise<void>): Promise<void> {
  return withDatabase(invocation, 'keys', ({ database }, configuration) =>
    work(createKeyStore({ database, configured: configuration.api.keys })),
  );
}
