import type { Chain } from '@chainstead/chains';
import { childFrom, parseLogPlace, type WantedContract } from '@chainstead/contracts';
import {
  type Address,
  errorText,
  isAddress,
  JSON_DEPTH_MAX,
  JsonBoundsError,
  parseAddress,
  parseBoundedJson,
} from '@chainstead/core';
import { readAbi } from '@chainstead/events/decoding';
import { html } from 'hono/html';
import { z } from 'zod';
import {
  boxesMember,
  button,
  changeForm,
  field,
  formFields,
  labeled,
  textMember,
  tickBox,
} from '../../layout/form.ts';
import { code, cut, type Html, problem, section, shown } from '../../layout/html.ts';
import { count } from '../../layout/numbers.ts';

const PROBLEM_MAX = 1_000;
const SIGNATURE_MAX = 400;

export interface ContractFormFacts {
  readonly form: ContractForm;
  readonly events: readonly string[];
  readonly problem: string | null;
  readonly chains: readonly Chain[];
  readonly source: AbiSource | null;
  readonly token: string;
}

export function contractFormView({
  form,
  events,
  problem: refusal,
  chains,
  source,
  token,
}: ContractFormFacts): Html {
  const options = { chain: chains.map(({ key }) => key) };
  const fields = (): Html => {
    const views = { events: eventBoxes(form, events), calls: callsBox(form, chains) };
    return html`${formFields(contractForm.omit({ abi: true }), { values: form, views, options })}
<p class="actions"><button formaction="/console/contracts/add">Add contract</button></p>`;
  };
  const sourceFields = (
    given: AbiSource,
  ): Html => html`${formFields(contractForm.pick({ chain: true }), { values: form, options })}
${field('addresses', SOURCE_ADDRESS, form.addresses)}
${sourceButton(given, '/console/contracts/abi')}`;
  const content = html`<div class="fields form">
${formFields(contractForm.pick({ abi: true }), { values: form })}
<p class="actions">${button('List events', 'quiet')}</p>
${events.length > 0 ? fields() : source !== null && sourceFields(source)}</div>`;
  return section(
    'add',
    'Add a contract',
    refusal !== null && nothingAdded(refusal, PROBLEM_MAX),
    changeForm('/console/contracts/check', token, {}, content, 'Add a contract'),
  );
}

export function nothingAdded(refusal: string, max: number): Html {
  return problem(html`<strong>Nothing was added.</strong> ${shown(refusal, max)}`);
}

function callsBox({ calls }: ContractForm, chains: readonly Chain[]): Html {
  const able = chains.filter(indexesCalls).map(({ key }) => key);
  const isAble = able.length > 0;
  const hint = isAble
    ? `Calls of functions that change state. For chains that index all transactions: ${able.join(', ')}.`
    : 'Refused: no chain here indexes all transactions. Set TRANSACTIONS_<CHAIN>=all.';
  return field('calls', { label: 'Calls', hint, isBox: true, attributes: isAble ? '' : 'disabled' }, calls);
}

function eventBoxes(form: ContractForm, events: readonly string[]): Html {
  const boxes = events.map((signature, index) => {
    const label = code(shown(signature, SIGNATURE_MAX));
    return html`<li>${tickBox('events', signature, form.events.includes(signature), label, `event-${index}`)}</li>`;
  });
  return html`<fieldset><legend>Events (${count(events.length)})</legend><ul class="events">${boxes}</ul></fieldset>`;
}

const JSON_BOUNDS = { depthMax: JSON_DEPTH_MAX, valuesMax: 400_000 };
const BLOCK = /^\d{1,15}$/;
const LINE = 'autocomplete="off" spellcheck="false"';
const line = (label: string, hint: string) => textMember({ label, hint, attributes: LINE });
const area = (label: string, hint: string, rows: number) =>
  textMember({ label, hint, rows, attributes: 'class="code" autocomplete="off"' });

/** Only in forms that get an ABI. */
export const SOURCE_ADDRESS = {
  label: 'Address',
  hint: 'For a proxy, the address of its implementation.',
  attributes: LINE,
};

export const contractForm = z.object({
  abi: area('ABI', 'JSON from the compiler, or an artifact of Foundry, Hardhat or Truffle.', 8),
  events: boxesMember().transform((given) => given.filter((event) => event !== '')),
  name: line(
    'Name',
    'Tables are named contracts.<name>_<event>. With the name of a known contract, addresses and events are added to it.',
  ),
  chain: textMember({ label: 'Chain', options: [] }),
  addresses: area('Addresses', 'One per line.', 3),
  strict: textMember({
    label: 'Strict',
    hint: 'Refuses addresses without code. An upstream of the chain is read.',
    isBox: true,
  }),
  /** Names a factory's children. Empty: the addresses are the contracts. */
  factoryEvent: line(
    'Factory event',
    'For children of a factory: the declaration of its event, such as PoolCreated(address indexed token0, address pool). The addresses are then those of the factory, or the name of a contract whose children are the factories.',
  ),
  child: line('Child parameter', 'Parameter of the factory event that is the address of a child, such as pool.'),
  childFrom: labeled(
    {
      label: 'Start of the events of a child',
      options: [
        ['transaction', 'Transaction of its factory event'],
        ['block', 'Block of its factory event'],
        ['log', 'Its factory event'],
      ],
    },
    childFrom.catch('transaction'),
  ),
  /** Empty: the first one of the chain's history. */
  from: line('First block', 'Empty: the first block of the history of the chain.'),
  index: line('Indexed parameters', 'Columns that the API can filter by, such as owner.'),
  calls: z.string().default(''),
  /** An upgrade's log (`18000000:57`), or the ABI's implementation. Empty: neither. */
  upgrade: line(
    'Upgrade',
    'For a proxy: the implementation with this ABI, as an address, or the log of the upgrade, such as 18000000:57. Empty: the events have always had this form.',
  ),
});

export type ContractForm = z.output<typeof contractForm>;

export const EMPTY_CONTRACT: ContractForm = contractForm.parse({});

interface Problem {
  readonly problem: string;
}

export function readContractForm(
  form: ContractForm,
  chains: readonly Chain[],
): { readonly wanted: WantedContract } | Problem {
  const chain = chains.find(({ key }) => key === form.chain);
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  const emitters = readEmitters(form);
  if ('problem' in emitters) return emitters;
  const from = form.from.trim();
  if (from !== '' && !BLOCK.test(from)) return { problem: 'The first block must be a whole number, or empty' };
  const abi = parseAbi(form.abi);
  if ('problem' in abi) return abi;
  const calls = form.calls !== '';
  const setting = `TRANSACTIONS_${chain.key.toUpperCase().replaceAll('-', '_')}=all`;
  if (calls && !indexesCalls(chain))
    return {
      problem: `Calls can't be decoded, because transactions of ${chain.key} are not indexed. Set ${setting}, or leave calls out`,
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

function readEmitters(form: ContractForm): Pick<WantedContract, 'addresses' | 'factory'> | Problem {
  const addresses = partsOf(form.addresses);
  const [event, child] = [form.factoryEvent.trim(), form.child.trim()];
  if ((event === '') !== (child === ''))
    return { problem: 'Enter both the event of the factory and its parameter with the child, or neither' };
  const [of = ''] = addresses;
  if (child !== '' && addresses.length === 1 && !of.startsWith('0x'))
    return { addresses: [], factory: { of, event, child, childFrom: form.childFrom } };
  const wrong = addresses.find((address) => !isAddress(address));
  if (wrong !== undefined)
    return { problem: `${wrong.slice(0, 100)} is no address (0x and 40 hexadecimal digits)` };
  if (addresses.length === 0) return { problem: 'Enter at least one address' };
  return {
    addresses: addresses.map((address) => parseAddress(address)),
    factory: child === '' ? null : { of: null, event, child, childFrom: form.childFrom },
  };
}

function indexesCalls({ transactions }: Chain): boolean {
  return transactions.mode === 'all';
}

function readUpgrade(field: string): Pick<WantedContract, 'upgrade' | 'implementation'> | Problem {
  if (field === '') return { upgrade: null, implementation: null };
  if (isAddress(field)) return { upgrade: null, implementation: parseAddress(field) };
  const upgrade = parseLogPlace(field);
  if (upgrade !== null) return { upgrade, implementation: null };
  return {
    problem: `${field.slice(0, 100)} is neither the address of an implementation nor the place of a log (<block>:<log index>, such as 18000000:57)`,
  };
}

export function eventsOfAbi(field: string): { readonly events: readonly string[] } | Problem {
  const abi = parseAbi(field);
  if ('problem' in abi) return abi;
  const entries = readAbi(abi.json, { anonymousEvents: true })?.entries ?? [];
  const events = entries.flatMap((parsed) => (parsed.kind === 'event' ? [parsed.entry.signature] : []));
  return events.length === 0
    ? { problem: 'This JSON contains no ABI with events' }
    : { events: [...new Set(events)] };
}

/** Checks no more than the size. */
export function parseAbi(field: string): { readonly json: unknown } | Problem {
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

/** Server of verified contracts that the operator allows. */
export interface AbiSource {
  readonly host: string;
  /** Parsed JSON, or why there is none. */
  read(chain: Chain, address: Address): Promise<{ readonly abi: unknown } | { readonly problem: string }>;
}

/** The text of a form's field, or why there is none. */
export async function readSourceText(
  source: AbiSource | null,
  chain: Chain | undefined,
  given: string,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const address = given.trim();
  if (source === null) return { problem: 'ABI_SOURCE is not set, so ABIs can only be pasted' };
  if (chain === undefined) return { problem: 'Choose a chain that is indexed here' };
  if (!isAddress(address))
    return { problem: `${cut(address) || 'An empty text'} is no address (0x and 40 hexadecimal digits)` };
  const read = await source.read(chain, parseAddress(address));
  return 'problem' in read ? read : { text: JSON.stringify(read.abi, null, 2) };
}

export function sourceButton({ host }: AbiSource, action: string): Html {
  return html`<p class="actions"><button class="quiet" formaction="${action}">Get the ABI from ${host}</button></p>`;
}
