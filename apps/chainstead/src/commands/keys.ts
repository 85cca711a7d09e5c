import { Command } from 'commander';
import type { CommandContext, JsonOption } from '../session/command-context.ts';

const SCOPES = 'data, rpc, streams or admin';

export function keysCommand(context: CommandContext): Command {
  const keys = new Command('keys').description('Create, list, restrict and revoke API keys; show JSON-RPC usage');
  keys
    .command('create')
    .description('Create a key (shown once, stored as a hash)')
    .option('--name <text>', 'Purpose of the key', 'unnamed')
    .option('--scope <list>', `Comma list of scopes: ${SCOPES} (default: data, rpc and streams)`, collect)
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead keys create --name "web shop"\n  $ chainstead keys create --name "web page" --scope rpc\n  $ chainstead keys create --name "console" --scope admin',
    )
    .action(async (options: { name: string; scope?: string[] }, command: Command) => {
      const { createKey } = await import('../actions/keys.ts');
      await createKey(options, command, context);
    });
  keys
    .command('list')
    .description('List keys created with `keys create` (API_KEYS are not stored)')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys list\n  $ chainstead keys list --json')
    .action(async (options: JsonOption, command: Command) => {
      const { listKeys } = await import('../actions/keys.ts');
      await listKeys(options, command, context);
    });
  keys
    .command('scope')
    .description('Set the scopes of a key (running servers apply it within seconds)')
    .argument('<key>', 'Key, or its first characters as shown by `keys list`')
    .requiredOption('--scope <list>', `Comma list of all scopes of the key: ${SCOPES}`, collect)
    .addHelpText('after', '\nExamples:\n  $ chainstead keys scope 1f0c2ab9 --scope data,rpc')
    .action(async (key: string, options: { scope: string[] }, command: Command) => {
      const { setKeyScopes } = await import('../actions/keys.ts');
      await setKeyScopes(key, options, command, context);
    });
  keys
    .command('revoke')
    .description('Revoke a key (running servers reject it within seconds)')
    .argument('<key>', 'Key, or its first characters as shown by `keys list`')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys revoke 1f0c2ab9')
    .action(async (key: string, _options: object, command: Command) => {
      const { revokeKey } = await import('../actions/keys.ts');
      await revokeKey(key, command, context);
    });
  keys
    .command('usage')
    .description('Show JSON-RPC calls by key, chain and method for recent days (UTC)')
    .option('--days <n>', 'Number of days, including today', '30')
    .option('--json', 'JSON output (one array, by day)')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys usage\n  $ chainstead keys usage --days 7 --json')
    .action(async (options: { days: string; json?: boolean }, command: Command) => {
      const { showUsage } = await import('../actions/keys.ts');
      await showUsage(options, command, context);
    });
  return keys;
}

function collect(list: string, before: string[] = []): string[] {
  return [...before, ...list.split(',').map((name) => name.trim())];
}
