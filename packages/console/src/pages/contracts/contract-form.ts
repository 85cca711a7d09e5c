import type { Chain } from '@chainstead/chains';
import { childFrom, parseLogPlace, type WantedContract } from '@chainstead/contracts';
import {
  errorText,
  isAddress,
  JSON_DEPTH_MAX,
  JsonBoundsError,
  parseAddress,
  parseBoundedJson,
} from '@chainstead/core';
import { readAbi } from '@chainstead/decoding';
import { z } from 'zod';

/** The limits of ABIs. The largest known ones have about 20,000 values. */
const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 400_000 };
/** As in the command line. */
const BLOCK = /^\d{1,15}$/;

const text = z.string().default('');

/** The form of a contract as browsers send it. */
export const contractForm = z.object({
  name: text,
  chain: text,
  abi: text,
  /** Separated by spaces, commas or line ends. */
  addresses: text,
  /** Declaration of the event by which a factory names its children, and the parameter with the child. Empty: the addresses are the contracts. */
  factoryEvent: text,
  child: text,
  /** Start of the events of a child. */
  childFrom: childFrom.catch('transaction'),
  /** Not empty: addresses without code are refused. */
  strict: text,
  /** First block. Empty: the first one of the chain's history. */
  from: text,
  /** Parameters that get an index, separated as addresses are. */
  index: text,
  /** Not empty: calls get tables too. */
  calls: text,
  /** Log of an upgrade (`18000000:57`), or the implementation that the ABI belongs to. Empty: neither. */
  upgrade: text,
  /** Signatures that are ticked. */
  events: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((given) => (typeof given === 'string' ? [given] : given).filter((event) => event !== '')),
});

export type ContractForm = z.output<typeof contractForm>;

/** An empty form. */
export const EMPTY_CONTRACT: ContractForm = contractForm.parse({});

/** What a form asks for, or why that is impossible. */
export type ReadContract = { readonly wanted: WantedContract } | { readonly problem: string };

/** Reads a form. @param chains indexed here */
export function readContractForm(form: ContractForm, chains: readonly Chain[]): ReadContract {
  const chain = chains.find(({ key }) => key === form.chain);
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  const emitters = readEmitters(form);
  if ('problem' in emitters) return emitters;
  const from = form.from.trim();
  if (from !== '' && !BLOCK.test(from)) return { problem: 'The first block must be a whole number, or empty' };
  const abi = parseAbi(form.abi);
  if ('problem' in abi) return abi;
  const calls = form.calls !== '';
  if (calls && !indexesCalls(chain))
    return {
      problem: `Calls can't be decoded, because transactions of ${chain.key} are not indexed. Set ${transactionsSetting(chain)}=all, or leave calls out`,
    };
  if (form.events.length === 0 && !calls) return { problem: 'Choose at least one event' };
  const upgrade = readUpgrade(form.upgrade.trim());
  if ('problem' in upgrade) return upgrade;
  const wanted = {
    name: form.name.trim(),
    chain,
    abi: abi.json,
    ...emitters,
    firstBlock: from === '' ? null : Number(from),
    events: form.events,
    indexed: partsOf(form.index),
    calls,
    ...upgrade,
  };
  return { wanted };
}

/** Returns the addresses of a form, and their factory. A single word in place of the addresses of a factory is the name of a contract. */
function readEmitters(
  form: ContractForm,
): Pick<WantedContract, 'addresses' | 'factory'> | { readonly problem: string } {
  const given = partsOf(form.addresses);
  const [event, child] = [form.factoryEvent.trim(), form.child.trim()];
  if ((event === '') !== (child === ''))
    return { problem: 'Enter both the event of the factory and its parameter with the child, or neither' };
  const [of = ''] = given;
  if (child !== '' && given.length === 1 && !of.startsWith('0x'))
    return { addresses: [], factory: { of, event, child, childFrom: form.childFrom } };
  const wrong = given.find((one) => !isAddress(one));
  if (wrong !== undefined) return { problem: `${wrong.slice(0, 100)} is no address (0x and 40 hexadecimal digits)` };
  if (given.length === 0) return { problem: 'Enter at least one address' };
  return {
    addresses: given.map((address) => parseAddress(address)),
    factory: child === '' ? null : { of: null, event, child, childFrom: form.childFrom },
  };
}

/** Returns whether a chain indexes the transactions that calls are read from. */
export function indexesCalls({ transactions }: Chain): boolean {
  return transactions.mode === 'all';
}

function transactionsSetting({ key }: Chain): string {
  return `TRANSACTIONS_${key.toUpperCase().replaceAll('-', '_')}`;
}

function readUpgrade(given: string): Pick<WantedContract, 'upgrade' | 'implementation'> | { readonly problem: string } {
  if (given === '') return { upgrade: null, implementation: null };
  if (isAddress(given)) return { upgrade: null, implementation: parseAddress(given) };
  const upgrade = parseLogPlace(given);
  if (upgrade !== null) return { upgrade, implementation: null };
  return {
    problem: `${given.slice(0, 100)} is neither the address of an implementation nor the place of a log (<block>:<log index>, such as 18000000:57)`,
  };
}

/** Returns the signatures of an ABI's events, or why there are none. */
export function eventsOfAbi(given: string): { readonly events: readonly string[] } | { readonly problem: string } {
  const abi = parseAbi(given);
  if ('problem' in abi) return abi;
  const entries = readAbi(abi.json, { anonymousEvents: true })?.entries ?? [];
  const events = entries.flatMap((one) => (one.kind === 'event' ? [one.entry.signature] : []));
  return events.length === 0 ? { problem: 'This JSON contains no ABI with events' } : { events: [...new Set(events)] };
}

function parseAbi(given: string): { readonly json: unknown } | { readonly problem: string } {
  try {
    return { json: parseBoundedJson(given, JSON_BOUNDS) };
  } catch (error) {
    return {
      problem: `The ABI ${error instanceof JsonBoundsError ? 'is too large' : 'is not JSON'}: ${errorText(error)}`,
    };
  }
}

function partsOf(given: string): string[] {
  return given.split(/[\s,]+/).filter((one) => one !== '');
}
