import type { ChainRegistry } from '@chainstead/chains';
import { type GatewayUsage, readGatewayUsage } from '@chainstead/gateway';
import { createKeyStore, type KeyStore } from '@chainstead/http';
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { readConfiguration } from '../read-configuration.ts';
import { renderTable } from '../text-table.ts';
import { UsageError } from '../usage-error.ts';

/** `chainstead keys create|list|revoke|usage` */
export function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description('API keys: make, list, revoke, what they call of the JSON-RPC gateway')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(usageCommand(context));
}

function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description('make a key; it is shown once and stored hashed')
    .option('--name <text>', 'what it is for', 'unnamed')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys create --name "web shop"')
    .action((options: { name: string }, command: Command) =>
      withKeys(command, context, async (keys) => {
        const { key } = await keys.create(options.name);
        // The key alone on the output, so that it can be caught by a script.
        context.stdout.write(`${key}\n`);
        context.stderr.write('This key is shown once. Send it as X-API-Key, or as "Authorization: Bearer …".\n');
      }),
    );
}

function listCommand(context: CommandContext): Command {
  return new Command('list')
    .description('list the keys made with `keys create` (those of API_KEYS are not stored)')
    .option('--json', 'one JSON array')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys list\n  $ chainstead keys list --json')
    .action((options: { json?: boolean }, command: Command) =>
      withKeys(command, context, async (keys) => {
        const stored = await keys.list();
        if (options.json === true) {
          context.stdout.write(`${JSON.stringify(stored)}\n`);
          return;
        }
        const rows = stored.map((key) => [
          `${key.prefix}…`,
          key.name,
          key.createdAt.toISOString(),
          key.revokedAt?.toISOString() ?? 'active',
        ]);
        context.stdout.write(renderTable(['key', 'name', 'created', 'revoked'], rows));
      }),
    );
}

function revokeCommand(context: CommandContext): Command {
  return new Command('revoke')
    .description('revoke a key; running servers refuse it within seconds')
    .argument('<key>', 'the key, or the first characters that `keys list` shows')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys revoke 1f0c2ab9')
    .action((key: string, _options: object, command: Command) =>
      withKeys(command, context, async (keys) => {
        const revoked = await keys.revoke(key);
        context.stdout.write(`Revoked ${revoked.prefix}… (${revoked.name}).\n`);
      }),
    );
}

const DAYS_DEFAULT = 30;
const DAYS_MAX = 3_650;

function usageCommand(context: CommandContext): Command {
  return new Command('usage')
    .description('JSON-RPC calls to the gateway by key, chain and method, over the last days (UTC)')
    .option('--days <n>', `days to sum up, today included (default ${DAYS_DEFAULT})`)
    .option('--json', 'one JSON array, day by day')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys usage\n  $ chainstead keys usage --days 7 --json')
    .action((options: { days?: string; json?: boolean }, command: Command) => {
      const days = parseDays(options.days);
      const { configuration } = readConfiguration(command, context);
      return withStorage({ configuration, context, name: 'keys usage' }, async ({ database }) => {
        const usage = await readGatewayUsage(database, days);
        if (options.json === true) context.stdout.write(`${JSON.stringify(usage)}\n`);
        else context.stdout.write(renderUsage(usage, configuration.chainRegistry));
      });
    });
}

function parseDays(given: string | undefined): number {
  if (given === undefined) return DAYS_DEFAULT;
  const days = /^\d{1,4}$/.test(given) ? Number(given) : 0;
  if (days >= 1 && days <= DAYS_MAX) return days;
  throw new UsageError(`--days ${given} is not understood`, `Give a whole number from 1 to ${DAYS_MAX}`, { given });
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
  const { configuration } = readConfiguration(command, context);
  return withStorage({ configuration, context, name: 'keys' }, ({ database }) =>
    work(createKeyStore({ database, configured: configuration.api.keys })),
  );
}
