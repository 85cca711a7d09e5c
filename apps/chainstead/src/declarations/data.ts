import { Argument, Command, Option } from 'commander';
import type { ImportKind } from '../commands/import.ts';
import type { CommandContext } from '../session/command-context.ts';
import { run } from './run.ts';

export function verifyBalancesCommand(context: CommandContext): Command {
  return new Command('verify-balances')
    .description('Compare the balances of a wallet with balanceOf and eth_getProof')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--wallet <address>', 'Wallet address')
    .addOption(
      new Option(
        '--token <address...>',
        'Tokens to check (default: tokens of its indexed transfers, newest first)',
      ),
    )
    .addHelpText('after', VERIFY_BALANCES_EXAMPLES)
    .action(run(context, async () => (await import('../commands/verify-balances.ts')).verifyBalances));
}

const VERIFY_BALANCES_EXAMPLES = `
Checks the balance that the API returns without a contract call. If the API needs a contract call, only balanceOf is checked.
The native balance is proven from the account, a token balance from its storage slot. The slot is found once and stored.
If a balance can't be proven, the reason is shown: no-slot-found, rebasing, not-plain, no-balance, no-proof-from-upstream,
header-not-verifiable or not-archived (docs/reference/proofs.md).
Exit code 1 if the API, balanceOf and the proof differ.

Examples:
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045
  $ chainstead verify-balances --chain eth --wallet 0xd8da6bf26964af9d7eed9e03e53415d37aa96045 \\
      --token 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48`;

export function explainPriceCommand(context: CommandContext): Command {
  return new Command('explain-price')
    .description('Show the pools, feeds and rules that decide the price of a token')
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--token <address>', 'Token contract; the zero address is the native token')
    .option('--block <number>', 'Block of the price (default: the newest indexed one)')
    .option('--exchange <name>', 'Only pools of this exchange: its name or the address of its factory')
    .option('--json', 'JSON output, as GET /erc20/{address}/price with explain=true')
    .option('--proof', 'JSON output with receipt proofs from the nodes of the chain, for verify-price')
    .addHelpText('after', EXPLAIN_PRICE_EXAMPLES)
    .action(run(context, async () => (await import('../commands/explain-price.ts')).showExplainedPrice));
}

const EXPLAIN_PRICE_EXAMPLES = `
Reads stored rows only, no node, except for --proof. A pool of concentrated liquidity counts once its balances are stored: the first
request to the price route reads them.

Roles of pools:
  chosen             its price is the price of the token
  counted            its weight counts
  too-shallow        a side holds less than PRICE_MIN_SIDE_USD, now or in the median of PRICE_WINDOW_SECONDS
  too-young          younger than PRICE_WINDOW_SECONDS, and there are older pools
  not-among-deepest  64 pools are deeper

The values of these settings are in the output. If no pool against a dollar token, ether or a token with a feed is deep enough, the pools
may be priced through another token: a hop, whose own pools hold PRICE_HOP_MIN_USD.

Examples:
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984 --block 18000000 --json
  $ chainstead explain-price --chain eth --token 0x1f9840a85d5af5bf1d1762f925bdaddc4201f984 --proof > price.json
  $ chainstead verify-price price.json`;

export function verifyPriceCommand(context: CommandContext): Command {
  return new Command('verify-price')
    .description('Verify a price and its proof offline, against a block hash')
    .argument('<file>', 'Response with a proof: of explain-price --proof, or of a price route with proof=true')
    .option('--block-hash <hash>', 'Trusted hash of the block of the price (default: that of the file)')
    .option(
      '--trusted-hashes <file>',
      'Trusted hashes of all other blocks that are not linked to it, one per line',
    )
    .addHelpText('after', VERIFY_PRICE_EXAMPLES)
    .action(run(context, async () => (await import('../commands/verify-price.ts')).showVerifiedPrice));
}

const VERIFY_PRICE_EXAMPLES = `
Reads the file alone: no node, database or settings. Headers must have the hashes of their blocks, and logs must be in
the receipts of these blocks. The price is then computed again. The output lists proven
facts, facts without a proof, and the block hashes to compare with a node.
Exit code 1 if anything differs. Exit code 3 if it fits, but facts or block hashes are listed as not proven.

Examples:
  $ chainstead verify-price price.json
  $ chainstead verify-price price.json --block-hash 0x88e96d4537bea4d9c05d12549907b32561d3bf31f45aae734cdc119f13406cb6`;

const KINDS: readonly ImportKind[] = [
  'token-list',
  'labels',
  'spam',
  'collections',
  'signatures',
  'abi',
  'aptos-coins',
];

export function importCommand(context: CommandContext): Command {
  return new Command('import')
    .description('Import lists, signatures, ABIs or Aptos coins from a file or URL')
    .addArgument(new Argument('<kind>', 'Kind of data').choices(KINDS))
    .argument('<place>', 'File or http(s) URL; for signatures and abi also a folder')
    .option('--source <name>', 'Source name to store (default: the file or URL)')
    .option('--chain <name>', 'Chain of entries that have none: name, ID or "all"')
    .option('--address <address>', 'For abi: contract address, if the file and folder names do not contain it')
    .option('--from <name>', 'For abi: "sourcify" downloads the ABI of the contract address given as place')
    .option(
      '--trust-coverage',
      'For aptos-coins: count the versions listed in the file as indexed, without reading them',
    )
    .addHelpText('after', IMPORT_EXAMPLES)
    .action(run(context, async () => (await import('../commands/import.ts')).runImport));
}

const IMPORT_EXAMPLES = `
Kinds:
  token-list   token metadata with logos
  labels       address labels
  spam         spam contracts
  collections  NFT collections
  signatures   function and event signatures
  abi          contract ABIs
  aptos-coins  a file written by "chainstead export"

An import replaces all earlier entries of the same source. An ABI replaces the earlier ABI of its contract.
Formats: docs/api/spam.md, docs/api/collections.md, docs/operate/lists-and-abis.md (signatures, abi).

Examples:
  $ chainstead import token-list https://tokens.uniswap.org
  $ chainstead import labels ./labels.json --source etherscan --chain eth
  $ chainstead import spam ./scams.json --chain all
  $ chainstead import collections ./collections.json --chain eth
  $ chainstead import signatures ./4bytes/signatures
  $ chainstead import abi ./out/Vault.sol/Vault.json --chain eth --address 0x5aae…
  $ chainstead import abi 0x5aae… --chain eth --from sourcify
  $ chainstead import aptos-coins ./coins.jsonl`;

export function exportCommand(context: CommandContext): Command {
  const exporting = new Command('export').description('Export tables to Parquet files, or Aptos coins to a file');
  exporting
    .command('parquet')
    .description('Export final blocks of a table to Parquet files (idempotent)')
    .requiredOption(
      '--table <name>',
      'Table: erc20_transfers, the table of another dataset, or contracts.<name>_<event>',
    )
    .requiredOption('--chain <name>', 'Chain: name, or decimal or hexadecimal ID')
    .requiredOption('--from <block>', 'First block')
    .option('--to <block>', 'Last block (default: the newest final block; with --follow: none)')
    .requiredOption('--out <folder>', 'Output folder, which may hold several tables and chains')
    .option('--follow', 'Wait for blocks that are not final or not indexed yet')
    .addOption(new Option('--blocks-per-file <number>', 'Blocks of a file').default('10000'))
    .addHelpText('after', PARQUET_EXAMPLES)
    .action(run(context, async () => (await import('../commands/export-parquet.ts')).exportParquet));
  exporting
    .command('aptos-coins')
    .description('Export Aptos coins to a file for "chainstead import"')
    .addArgument(new Argument('<file>', 'Output file; an existing file is replaced once the export is complete'))
    .option('--chain <name>', 'Network: aptos or aptos-testnet', 'aptos')
    .addHelpText('after', APTOS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/export.ts')).exportAptosCoins));
  return exporting;
}

const PARQUET_EXAMPLES = `
Safe to interrupt: the next run continues. The manifest lists ranges, rows, proof levels and SHA-256 of all files.
Blocks that were reindexed or reorganized since are written again. Guide: docs/operate/export.md.

Examples:
  $ chainstead export parquet --table erc20_transfers --chain eth --from 18000000 --to 18999999 --out ./lake
  $ chainstead export parquet --table nft_trades --chain base --from 0 --out ./lake --follow
  $ chainstead export parquet --table contracts.vault_deposit --chain eth --from 18000000 --out ./lake`;

const APTOS_EXAMPLES = `
The file has JSON Lines. The first line lists the covered versions. Format: docs/api/aptos.md.

Examples:
  $ chainstead export aptos-coins ./coins.jsonl
  $ chainstead export aptos-coins ./coins.jsonl --chain aptos-testnet`;

export function reviewsCommand(context: CommandContext): Command {
  const reviews = new Command('reviews').description(
    'List or apply spam reports from clients (POST /contracts-review)',
  );
  reviews
    .command('list')
    .description('List contracts reported as spam or not spam, pending ones first')
    .option('--chain <name>', 'Only this chain: name or ID')
    .option('--json', 'JSON output (one array)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ chainstead reviews list\n  $ chainstead reviews list --chain eth --json',
    )
    .action(run(context, async () => (await import('../commands/reviews.ts')).listReviews));
  reviews
    .command('apply')
    .description('Mark contracts as spam if most reports agree, and unmark the others')
    .argument('[contracts...]', 'Contract addresses (default: all reported contracts)')
    .option('--chain <name>', 'Only this chain: name or ID')
    .addHelpText('after', REVIEWS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/reviews.ts')).applyReported));
  return reviews;
}

const REVIEWS_EXAMPLES = `
A contract is marked if more keys report it as spam than as not spam. Otherwise, a mark from earlier reports is removed.
Imported spam lists are not changed. Any key can report a contract: check the list before you apply it.

Examples:
  $ chainstead reviews apply
  $ chainstead reviews apply 0x7a250d5630b4cf539739df2c5dacb4c659f2488d --chain eth`;

export function tokensCommand(context: CommandContext): Command {
  const tokens = new Command('tokens').description('Read names, symbols and decimals of token contracts again');
  tokens
    .command('refresh')
    .description('Queue name, symbol and decimals of tokens to be read again (idempotent)')
    .argument('<addresses...>', 'Token contracts')
    .requiredOption('--chain <name>', 'Chain name or ID')
    .addHelpText('after', TOKENS_EXAMPLES)
    .action(run(context, async () => (await import('../commands/tokens.ts')).refreshTokenFacts));
  return tokens;
}

const TOKENS_EXAMPLES = `
The running worker role reads them within seconds. The API returns the known values until then. If the decimals changed,
stored candles of the token's pools are computed again.

Examples:
  $ chainstead tokens refresh 0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48 --chain eth`;
