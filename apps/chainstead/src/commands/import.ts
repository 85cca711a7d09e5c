import { Argument, Command } from 'commander';
import type { ImportKind } from '../actions/import.ts';
import type { ImportOptions } from '../actions/import-options.ts';
import type { CommandContext } from '../session/command-context.ts';

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
    .addHelpText('after', EXAMPLES)
    .action(async (kind: ImportKind, place: string, options: ImportOptions, command: Command) => {
      const { runImport } = await import('../actions/import.ts');
      await runImport({ kind, place }, options, command, context);
    });
}

const EXAMPLES = `
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
