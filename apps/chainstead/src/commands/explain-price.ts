import { Command } from 'commander';
import type { ExplainPriceOptions } from '../actions/explain-price.ts';
import type { CommandContext } from '../session/command-context.ts';

export function explainPriceCommand(context: CommandContext): Command {
  return new Command('explain-price')
    .description('Show the pools, feeds and rules that decide the price of a token')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--token <address>', 'Token contract; the zero address is the native token')
    .option('--block <number>', 'Block of the price (default: the newest indexed one)')
    .option('--exchange <name>', 'Only pools of this exchange: its name or the address of its factory')
    .option('--json', 'JSON output, as GET /erc20/{address}/price with explain=true')
    .option('--proof', 'JSON output with receipt proofs from the nodes of the chain, for verify-price')
    .addHelpText('after', EXAMPLES)
    .action(async (options: ExplainPriceOptions, command: Command) => {
      const { showExplainedPrice } = await import('../actions/explain-price.ts');
      await showExplainedPrice(options, command, context);
    });
}

const EXAMPLES = `
Reads stored rows only, no node, except for --proof. A pool of concentrated liquidity counts once its balances are stored: the first
request to the price route reads them.

Roles of pools:
  chosen             its price is the price of the token
  counted            its weight counts
  too-shallow        a side holds less than PRICE_MIN_SIDE_USD, now or in the median of PRICE_WINDOW_SECONDS
  too-young          younger than PRICE_WINDOW_SECONDS, and there are older pools
  not-among-deepest  PRICE_POOLS_MAX pools are deeper

The values of these settings are in the output. If no pool against a dollar token, ether or a token with a feed is deep enough, the pools
may be priced through another token: a hop, whose own pools hold PRICE_HOP_MIN_USD.

Examples:
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984 --block 18000000 --json
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984 --proof > price.json
  $ chainstead verify-price price.json`;
