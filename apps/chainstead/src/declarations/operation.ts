import { Command, Option } from 'commander';
import { ROLE_NAMES } from '../configuration/role-names.ts';
import type { CommandContext } from '../session/command-context.ts';
import { collect, run } from './run.ts';

export function startCommand(context: CommandContext): Command {
  return new Command('start')
    .description('Run migrations, then the API, ingestion and background workers')
    .option(
      '--roles <list>',
      `Comma list of roles to run: ${ROLE_NAMES.join(', ')} (default: ROLES, or all. Numbers of processes are those of ROLES)`,
    )
    .addHelpText('after', START_EXAMPLES)
    .action(run(context, async () => (await import('../commands/start.ts')).start));
}

const START_EXAMPLES = `
One role with one process runs in this process. Several roles, or several processes of a role (api:2), run as child
processes and are restarted after a crash.
SIGHUP replaces the API processes one by one.

Examples:
  $ chainstead start                                     Run all roles with an embedded Postgres
  $ CHAINS=eth,base START_BLOCK_ETH=18000000 chainstead start
  $ DATABASE_URL=postgres://… chainstead start --roles api
  $ chainstead start --roles api:auto                    Use all cores of this machine
  $ chainstead --config production.env start --roles ingest,worker`;

export function demoCommand(context: CommandContext): Command {
  return new Command('demo')
    .description('Run everything against a local chain with sample tokens and NFT sales')
    .option('--webhooks', 'One line per received webhook, instead of the latest one in place')
    .addHelpText('after', DEMO_EXAMPLES)
    .action(async (options: { webhooks?: boolean }) => {
      const { runDemo } = await import('../demo/run-demo.ts');
      await runDemo(context, { listsWebhooks: options.webhooks === true });
    });
}

const DEMO_EXAMPLES = `
The demo needs no node, database or configuration. It uses its own database and deletes it at the end.
It respects PORT and LOG_LEVEL.

Examples:
  $ chainstead demo
  $ PORT=9000 chainstead demo
  $ chainstead demo --webhooks`;

export function provisionCommand(context: CommandContext): Command {
  return new Command('provision')
    .description('Create the role and database of DATABASE_URL (idempotent)')
    .addHelpText(
      'after',
      '\nConnects as a superuser (DATABASE_SUPERUSER_URL) and sets resource limits for the roles in that database.\n\nExamples:\n  $ DATABASE_SUPERUSER_URL=postgres://postgres:…@host/postgres DATABASE_URL=postgres://chainstead:…@host/chainstead chainstead provision',
    )
    .action(run(context, async () => (await import('../commands/provision.ts')).runProvision));
}

export function migrateCommand(context: CommandContext): Command {
  return new Command('migrate')
    .description('Apply pending database migrations and exit (safe to run concurrently)')
    .addHelpText(
      'after',
      `
Without DATABASE_URL, a folder without a database gets an embedded one. Only start, demo and migrate create one.

Examples:
  $ chainstead migrate
  $ DATABASE_URL=postgres://… chainstead migrate`,
    )
    .action(run(context, async () => (await import('../commands/migrate.ts')).runMigrations));
}

export function configCommand(context: CommandContext): Command {
  const config = new Command('config').description('Check or show the configuration');
  config
    .command('validate')
    .description('Check the configuration and list every problem (exit code 2 if any)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead config validate\n  $ chainstead --config production.env config validate',
    )
    .action(run(context, async () => (await import('../commands/config.ts')).validateConfiguration));
  config
    .command('print')
    .description('Show all settings in effect and their source (secrets are redacted)')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', '\nExamples:\n  $ chainstead config print\n  $ chainstead config print --json')
    .action(run(context, async () => (await import('../commands/config.ts')).showConfiguration));
  return config;
}

export function doctorCommand(context: CommandContext): Command {
  return new Command('doctor')
    .description('Check nodes, Postgres and Redis against the configuration (read-only)')
    .option('--chain <name>', 'Check only the nodes of this chain')
    .option('--url <url>', 'Check only this node, for --chain or for the chain ID that it reports')
    .addOption(
      new Option('--upgrade', 'Show what starting this version would do to the database').conflicts([
        'chain',
        'url',
      ]),
    )
    .addOption(
      new Option('--plan', 'Estimate rows, disk and hours of a backfill of --chain').conflicts([
        'upgrade',
        'url',
      ]),
    )
    .addOption(new Option('--from <block>', 'First block of the plan, or a date (UTC)').implies({ plan: true }))
    .option('--to <block>', 'Last block of the plan, or a date (default: the newest final block)')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', DOCTOR_EXAMPLES)
    .action(run(context, async () => (await import('../commands/doctor.ts')).examine));
}

const DOCTOR_EXAMPLES = `
Each finding includes its meaning and a fix. Without --chain, --url, --upgrade and --plan, everything is checked.
Checking a node takes up to a minute and a few hundred calls. They respect RPC_RATE and count toward the node's budget.
--upgrade lists pending migrations with their locks and estimated duration, data that is rebuilt, and problems that would stop
the upgrade. Run it with the new version while the old version is running.
--plan reads and decodes 200 blocks of each source in HISTORY_<CHAIN> and of the nodes, spread over the range.
Blocks that are indexed already are left out. No database is needed, but its rows make the sizes more exact.
Exit code 1 if something must be changed or the upgrade would fail, otherwise 0. A plan ends with 0.

Examples:
  $ chainstead doctor
  $ chainstead doctor --chain base
  $ chainstead doctor --chain eth --url https://node.example.com/v2/key
  $ chainstead doctor --upgrade
  $ DATA_DIR=/opt/chainstead/.chainstead chainstead --config /opt/chainstead/.env doctor --upgrade
  $ chainstead doctor --plan --chain eth --from 2023-01-01
  $ chainstead doctor --plan --chain base --from 10000000 --to 12000000
  $ chainstead doctor --json`;

export function statusCommand(context: CommandContext): Command {
  return new Command('status')
    .description('Show sync progress, lag, upstream health, row counts and database size')
    .option('--json', 'JSON output (one object)')
    .addHelpText('after', '\nExamples:\n  $ chainstead status\n  $ chainstead status --json')
    .action(run(context, async () => (await import('../commands/status.ts')).showStatus));
}

export function psqlCommand(context: CommandContext): Command {
  return new Command('psql')
    .description('Connect psql to the database, or print its address')
    .argument('[options...]', 'Options of psql')
    .option('--url', 'Print the address with its password instead')
    .option('--superuser', 'Connect as the superuser (DATABASE_SUPERUSER_URL, or that of the embedded Postgres)')
    .allowUnknownOption()
    .addHelpText('after', PSQL_EXAMPLES)
    .action(run(context, async () => (await import('../commands/psql.ts')).runPsql));
}

const PSQL_EXAMPLES = `
Starts the embedded Postgres until psql ends, unless it runs already. Its address stays valid while it runs.
Without psql on this machine, exits with code 1. --url prints the address for other clients.

Examples:
  $ chainstead psql
  $ chainstead psql -c 'SELECT * FROM analytics.coverage'
  $ DATABASE_URL="$(chainstead psql --url)"`;

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
    .action(run(context, async () => (await import('../commands/keys.ts')).createKey));
  keys
    .command('list')
    .description('List keys created with `keys create` (API_KEYS are not stored)')
    .option('--json', 'JSON output (one array)')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys list\n  $ chainstead keys list --json')
    .action(run(context, async () => (await import('../commands/keys.ts')).listKeys));
  keys
    .command('scope')
    .description('Set the scopes of a key (running servers apply it within seconds)')
    .argument('<key>', 'Key, or its first characters as shown by `keys list`')
    .requiredOption('--scope <list>', `Comma list of all scopes of the key: ${SCOPES}`, collect)
    .addHelpText('after', '\nExamples:\n  $ chainstead keys scope 1f0c2ab9 --scope data,rpc')
    .action(run(context, async () => (await import('../commands/keys.ts')).setKeyScopes));
  keys
    .command('revoke')
    .description('Revoke a key (running servers reject it within seconds)')
    .argument('<key>', 'Key, or its first characters as shown by `keys list`')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys revoke 1f0c2ab9')
    .action(run(context, async () => (await import('../commands/keys.ts')).revokeKey));
  keys
    .command('usage')
    .description('Show JSON-RPC calls by key, chain and method for recent days (UTC)')
    .option('--days <n>', 'Number of days, including today', '30')
    .option('--json', 'JSON output (one array, by day)')
    .addHelpText('after', '\nExamples:\n  $ chainstead keys usage\n  $ chainstead keys usage --days 7 --json')
    .action(run(context, async () => (await import('../commands/keys.ts')).showUsage));
  return keys;
}

export function mcpCommand(context: CommandContext): Command {
  return new Command('mcp')
    .description('Connect an agent on this machine to a running server over standard input and output')
    .option('--url <url>', 'Address of the server', 'http://127.0.0.1:8080')
    .addHelpText('after', MCP_EXAMPLES)
    .action(run(context, async () => (await import('../commands/mcp.ts')).serveAgent));
}

const MCP_EXAMPLES = `
Environment:
  CHAINSTEAD_API_KEY  API key with the scope data (default: none, for a server without keys)

Agents that speak HTTP need no command: their address is the server with the path /mcp.

Examples:
  $ chainstead mcp
  $ CHAINSTEAD_API_KEY=… chainstead mcp --url https://chainstead.example.com`;
