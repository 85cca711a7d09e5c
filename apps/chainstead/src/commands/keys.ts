import { createKeyStore, type KeyStore } from '@chainstead/http';
import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import { withStorage } from '../command-session.ts';
import { readConfiguration } from '../read-configuration.ts';
import { renderTable } from '../text-table.ts';

/** `chainstead keys create|list|revoke` */
export function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description('API keys: make, list, revoke')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(revokeCommand(context));
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

function withKeys(command: Command, context: CommandContext, work: (keys: KeyStore) => Promise<void>): Promise<void> {
  const { configuration } = readConfiguration(command, context);
  return withStorage({ configuration, context, name: 'keys' }, ({ database }) =>
    work(createKeyStore({ database, configured: configuration.api.keys })),
  );
}
