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
import { readAbi } from '@chainstead/events/decoding';
import { z } from 'zod';

const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 400_000 };
const BLOCK = /^\d{1,15}$/;
const text = z.string().default('');

export const contractForm = z.object({
  name: text,
  chain: text,
  abi: text,
  addresses: text,
  /** Names a factory's children. Empty: the addresses are the contracts. */
  factoryEvent: text,
  child: text,
  childFrom: childFrom.catch('transaction'),
  strict: text,
  /** Empty: the first one of the chain's history. */
  from: text,
  index: text,
  calls: text,
  /** An upgrade's log (`18000000:57`), or the ABI's implementation. Empty: neither. */
  upgrade: text,
  events: z
    .union([z.string(), z.array(z.string())])
    .default([])
    .transform((given) => (typeof given === 'string' ? [given] : given).filter((event) => event !== '')),
});

export type ContractForm = z.output<typeof contractForm>;

export const EMPTY_CONTRACT: ContractForm = contractForm.parse({});

export function readContractForm(
  form: ContractForm,
  chains: readonly Chain[],
): { readonly wanted: WantedContract } | { readonly problem: string } {
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
      problem: `Calls can't be decoded, because transactions of ${chain.key} are not indexed. Set TRANSACTIONS_${chain.key.toUpperCase().replaceAll('-', '_')}=all, or leave calls out`,
    };
  if (form.events.length === 0 && !calls) return { problem: 'Choose at least one event' };
  const upgrade = readUpgrade(form.upgrade.trim());
  if ('problem' in upgrade) return upgrade;
  const { events } = form;
  const [firstBlock, indexed] = [from === '' ? null : Number(from), partsOf(form.index)];
  const wanted = {
    name: form.name.trim(),
    chain,
    abi: abi.json,
    ...emitters,
    firstBlock,
    events,
    indexed,
    calls,
    ...upgrade,
  };
  return { wanted };
}

function readEmitters(
  form: ContractForm,
): Pick<WantedContract, 'addresses' | 'factory'> | { readonly problem: string } {
  const addresses = partsOf(form.addresses);
  const [event, child] = [form.factoryEvent.trim(), form.child.trim()];
  if ((event === '') !== (child === ''))
    return { problem: 'Enter both the event of the factory and its parameter with the child, or neither' };
  const [of = ''] = addresses;
  if (child !== '' && addresses.length === 1 && !of.startsWith('0x'))
    return { addresses: [], factory: { of, event, child, childFrom: form.childFrom } };
  const wrong = addresses.find((address) => !isAddress(address));
  if (wrong !== undefined) return { problem: `${wrong.slice(0, 100)} is no address (0x and 40 hexadecimal digits)` };
  if (addresses.length === 0) return { problem: 'Enter at least one address' };
  return {
    addresses: addresses.map((address) => parseAddress(address)),
    factory: child === '' ? null : { of: null, event, child, childFrom: form.childFrom },
  };
}

export function indexesCalls({ transactions }: Chain): boolean {
  return transactions.mode === 'all';
}

function readUpgrade(field: string): Pick<WantedContract, 'upgrade' | 'implementation'> | { readonly problem: string } {
  if (field === '') return { upgrade: null, implementation: null };
  if (isAddress(field)) return { upgrade: null, implementation: parseAddress(field) };
  const upgrade = parseLogPlace(field);
  if (upgrade !== null) return { upgrade, implementation: null };
  return {
    problem: `${field.slice(0, 100)} is neither the address of an implementation nor the place of a log (<block>:<log index>, such as 18000000:57)`,
  };
}

export function eventsOfAbi(field: string): { readonly events: readonly string[] } | { readonly problem: string } {
  const abi = parseAbi(field);
  if ('problem' in abi) return abi;
  const entries = readAbi(abi.json, { anonymousEvents: true })?.entries ?? [];
  const events = entries.flatMap((parsed) => (parsed.kind === 'event' ? [parsed.entry.signature] : []));
  return events.length === 0 ? { problem: 'This JSON contains no ABI with events' } : { events: [...new Set(events)] };
}

function parseAbi(field: string): { readonly json: unknown } | { readonly problem: string } {
  try {
    return { json: parseBoundedJson(field, JSON_BOUNDS) };
  } catch (error) {
    const reason = error instanceof JsonBoundsError ? 'is too large' : 'is not JSON';
    return { problem: `The ABI ${reason}: ${errorText(error)}` };
  }
}
function partsOf(field: string): string[] {
  return field.split(/[\s,]+/).filter((part) => part !== '');
}
