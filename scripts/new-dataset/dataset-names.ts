import { keccak256 } from '@chainstead/core';
import { type EventParameter, type ParsedEvent, snakeCase } from './parse-event.ts';

/** Everything that the files of a new dataset are filled in with. */
export interface NewDataset {
  /** `vault-moves`. */
  readonly name: string;
  /** `vault_moves`. */
  readonly table: string;
  /** `vaultMoves`, of the table and the manifest. */
  readonly camel: string;
  /** `VaultMoves`. */
  readonly pascal: string;
  readonly event: ParsedEvent;
  /** `DEPOSIT_TOPIC`. */
  readonly topicName: string;
  readonly topic: string;
  /** The parameter whose rows a wallet's list has; undefined: rows are listed by the emitting contract. */
  readonly account: EventParameter | undefined;
  /** The other ones, which have a column each. */
  readonly others: readonly EventParameter[];
}

/** @throws Error for a name that is no lower-case words with hyphens */
export function describeDataset(name: string, event: ParsedEvent): NewDataset {
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name))
    throw new Error(
      `"${name}" is no name of a dataset: write lower-case words with hyphens, for instance vault-deposits`,
    );
  const addresses = event.parameters.filter(({ type }) => type === 'address');
  const account = addresses.find(({ isIndexed }) => isIndexed) ?? addresses[0];
  const pascal = name.split('-').map(capital).join('');
  return {
    name,
    table: name.replaceAll('-', '_'),
    camel: pascal.replace(/^./, (letter) => letter.toLowerCase()),
    pascal,
    event,
    topicName: `${event.name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()}_TOPIC`,
    topic: `0x${keccak256(Buffer.from(event.signature)).toString('hex')}`,
    // Only documents and responses call the column `account` by its own name.
    account: account && { ...account, column: snakeCase(account.name) },
    others: event.parameters.filter((parameter) => parameter !== account),
  };
}

function capital(word: string): string {
  return word.replace(/^./, (letter) => letter.toUpperCase());
}
