import { Command } from 'commander';
import type { CommandContext } from '../session/command-context.ts';

export function tokensCommand(context: CommandContext): Command {
  const tokens = new Command('tokens').description('Read names, symbols and decimals of token contracts again');
  tokens
    .command('refresh')
    .description('Queue name, symbol and decimals of tokens to be read again (idempotent)')
    .argument('<addresses...>', 'Token contracts')
    .requiredOption('--chain <name>', 'Chain name or ID')
    .addHelpText('after', EXAMPLES)
    .action(async (addresses: string[], options: { chain: string }, command: Command) => {
      const { refreshTokenFacts } = await import('../actions/tokens.ts');
      await refreshTokenFacts(addresses, options, command, context);
    });
  return tokens;
}

const EXAMPLES = `
The running worker role reads them within seconds. The API returns the known values until then. If the decimals changed,
stored candles of the token's pools are computed again.

Examples:
  $ chainstead tokens refresh 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 --chain eth`;
