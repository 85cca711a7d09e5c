import { Argument, Command } from 'commander';
import type { ImportKind } from '../actions/import.ts';
import type { ImportOptions } from '../actions/import-options.ts';
import type { CommandContext } from '../command-context.ts';

const KINDS: readonly ImportKind[] = [
  'token-list',
  'labels',
  'spam',
  'collections',
  'signatures',
  'abi',
  'aptos-coins',
];

/** `chainstead import` */
export function importCommand(context: CommandContext): Command {
  return new Command('import')
    .description(
      'import a list: token metadata with logos, address labels, scams, NFT collections, or signatures (replaces what came from the same source); ABIs of contracts; or coins of Aptos that "export" wrote',
    )
    .addArgument(new Argument('<kind>', 'what the list says').choices(KINDS))
    .argument('<place>', 'where it is: a file, or an http(s) URL; of signatures and abi a folder, too')
    .option('--source <name>', 'name to keep it under (default: the file or URL as given)')
    .option('--chain <name>', 'chain of entries that name none: a name, an id, or "all"')
    .option('--address <address>', 'of abi: the contract, where the name of the file or its folders do not say it')
    .option('--from <name>', 'of abi: "sourcify", which is asked for the contract whose address is given as place')
    .option(
      '--trust-coverage',
      'of aptos-coins: count the versions that the file claims as covered; they are not read again',
    )
    .addHelpText('after', EXAMPLES)
    .action(async (kind: ImportKind, place: string, options: ImportOptions, command: Command) => {
      const { runImport } = await import('../actions/import.ts');
      await runImport({ kind, place }, options, command, context);
    });
}

const EXAMPLES = `
Importing the same source again replaces exactly its own entries, an ABI that of its contract.
Formats: docs/spam.md, docs/collections.md, docs/operating.md (signatures, abi).

Examples:
  $ chainstead import token-list https://tokens.uniswap.org
  $ chainstead import labels ./labels.json --source etherscan --chain eth
  $ chainstead import spam ./scams.json --chain all
  $ chainstead import collections ./collections.json --chain eth
  $ chainstead import signatures ./4bytes/signatures
  $ chainstead import abi ./out/Vault.sol/Vault.json --chain eth --address 0x5aae…
  $ chainstead import abi 0x5aae… --chain eth --from sourcify
  $ chainstead import aptos-coins ./coins.jsonl`;
