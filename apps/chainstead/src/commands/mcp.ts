import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function mcpCommand(context: CommandContext): Command {
  return new Command('mcp')
    .description('Connect an agent on this machine to a running server over standard input and output')
    .option('--url <url>', 'Address of the server', 'http://127.0.0.1:8080')
    .addHelpText('after', EXAMPLES)
    .action(async (options: { readonly url: string }) => {
      const { serveAgent } = await import('../actions/mcp.ts');
      await serveAgent(options, context);
    });
}

const EXAMPLES = `
Environment:
  CHAINSTEAD_API_KEY  API key with the scope data (default: none, for a server without keys)

Agents that speak HTTP need no command: their address is the server with the path /mcp.

Examples:
  $ chainstead mcp
  $ CHAINSTEAD_API_KEY=… chainstead mcp --url https://chainstead.example.com`;
