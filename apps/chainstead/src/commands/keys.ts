import { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';

const SCOPES = 'data, rpc, streams or admin';

/** `chainstead keys create|list|scope|revoke|usage` */
export function keysCommand(context: CommandContext): Command {
  return new Command('keys')
    .description('API keys: make, list, narrow, revoke, what they call of the JSON-RPC gateway')
    .addCommand(createCommand(context))
    .addCommand(listCommand(context))
    .addCommand(scopeCommand(context))
    .addCommand(revokeCommand(context))
    .addCommand(usageCommand(context));
}

function createCommand(context: CommandContext): Command {
  return new Command('create')
    .description('make a key; it is shown once and stored hashed')
    .option('--name <text>', 'what it is for', 'unnamed')
    .option('--scope <list>', `what it may be used for: ${SCOPES} (default: data, rpc and streams)`, collect)
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead keys create --name "web shop"\n  $ chainstead keys create --name "web page" --scope rpc\n  $ chainstead keys create --name "console" --scope admin',
    )
    .action(async (options: { name: string; scope?: string[] }, command: Command) => {
      const { createKey } = await import('../actions/keys.ts');
      await createKey(options, command, context);
    });
}

function listCommand(context: CommandContext): Command {
  return new Command('list')
    .description('list the keys made with `keys create` (those of API_KEYS are not stored)')
    .option('--json', 'one JSON array')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys list\n  $ chainstead keys list --json')
    .action(async (options: { json?: boolean }, command: Command) => {
      const { listKeys } = await import('../actions/keys.ts');
      await listKeys(options, command, context);
    });
}

function scopeCommand(context: CommandContext): Command {
  return new Command('scope')
    .description('set what a key may be used for; running servers follow within seconds')
    .argument('<key>', 'the key, or the first characters that `keys list` shows')
    .requiredOption('--scope <list>', `all that it may be used for: ${SCOPES}`, collect)
    .addHelpText('after', '\nExamples:\n  $ chainstead keys scope 1f0c2ab9 --scope data,rpc')
    .action(async (key: string, options: { scope: string[] }, command: Command) => {
      const { setKeyScopes } = await import('../actions/keys.ts');
      await setKeyScopes(key, options, command, context);
    });
}

function revokeCommand(context: CommandContext): Command {
  return new Command('revoke')
    .description('revoke a key; running servers refuse it within seconds')
    .argument('<key>', 'the key, or the first characters that `keys list` shows')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys revoke 1f0c2ab9')
    .action(async (key: string, _options: object, command: Command) => {
      const { revokeKey } = await import('../actions/keys.ts');
      await revokeKey(key, command, context);
    });
}

function usageCommand(context: CommandContext): Command {
  return new Command('usage')
    .description('JSON-RPC calls to the gateway by key, chain and method, over the last days (UTC)')
    .option('--days <n>', 'days to sum up, today included', '30')
    .option('--json', 'one JSON array, day by day')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys usage\n  $ chainstead keys usage --days 7 --json')
    .action(async (options: { days: string; json?: boolean }, command: Command) => {
      const { showUsage } = await import('../actions/keys.ts');
      await showUsage(options, command, context);
    });
}

/** Comma lists, of which there may be several. */
function collect(list: string, before: string[] = []): string[] {
  return [...before, ...list.split(',').map((name) => name.trim())];
}
