import type { Chain } from '@chainstead/chains';
import {
  addFunctions,
  type ContractDefinition,
  ContractRefusedError,
  readFunctions,
} from '@chainstead/contracts';
import { isAddress } from '@chainstead/core';
import type { AbiType, CallableItem } from '@chainstead/events/decoding';
import type { AuditActor } from '@chainstead/http';
import { html } from 'hono/html';
import { z } from 'zod';
import type { ConsoleRequest, ConsoleRoutes, ConsoleServices, PageAnswer, View } from '../../console-page.ts';
import { changeForm, hidden } from '../../layout/form.ts';
import { cut, type Html, NOTHING, nameParts, record, shown } from '../../layout/html.ts';
import { jsonText } from '../../layout/json-text.ts';
import { messageIn } from '../explorer/tables/data-table.ts';
import { type AbiSource, parseAbi, readSourceText, sourceButton } from './contract-form.ts';
import { contractAddress, findContract, functionsAddress } from './contract-page.ts';

const functionsForm = z.object({
  ...{ name: z.string(), chain: z.string() },
  abi: z.string().default(''),
  address: z.string().default(''),
});

/** The hyphen is in no event's name: this path comes before those of events. */
export function addFunctionRoutes(routes: ConsoleRoutes, services: ConsoleServices): void {
  const { database, explorer } = services;
  const show = async (
    request: ConsoleRequest,
    { definition, chain }: FoundContract,
    problem: string | null = null,
    abi = '',
  ): Promise<View> => {
    const items = await readFunctions(database, definition);
    const call = await callOf(request, explorer, { definition, chain, items });
    return {
      title: 'Read contract',
      body: functionsView({
        definition,
        chain,
        items,
        call,
        problem,
        abi,
        source: explorer.abiSource,
        token: request.token,
      }),
    };
  };
  routes.view('/contracts/:name/read-contract', async (request) =>
    show(request, await findContract(request, services)),
  );
  routes.change('/contracts/functions', functionsForm, async (request) => {
    const { form } = request;
    const found = await findContract({ parameter: () => form.name, query: () => form.chain }, services);
    return add(request, found, form.abi);
  });
  routes.change('/contracts/functions/source', functionsForm, async (request) => {
    const { name, chain, address } = request.form;
    const found = await findContract({ parameter: () => name, query: () => chain }, services);
    const read = await readSourceText(explorer.abiSource, found.chain, address);
    return 'problem' in read ? show(request, found, read.problem) : add(request, found, read.text);
  });
  const add = async (
    request: ConsoleRequest & { readonly by: AuditActor },
    found: FoundContract,
    text: string,
  ): Promise<PageAnswer> => {
    const abi = parseAbi(text);
    if ('problem' in abi) return show(request, found, abi.problem, text);
    try {
      await addFunctions(database, found.definition, { abi: abi.json, by: request.by });
    } catch (error) {
      if (!(error instanceof ContractRefusedError)) throw error;
      return show(request, found, error.message, text);
    }
    return { goTo: functionsAddress(found.definition.name, found.chain.key) };
  };
}

type FoundContract = Awaited<ReturnType<typeof findContract>>;

/** A function with the values of its fields. */
interface Call {
  readonly signature: string;
  readonly address: string;
  readonly block: string;
  readonly values: readonly string[];
  readonly answer: { readonly value: unknown } | { readonly problem: string };
}

interface FunctionsFacts {
  readonly definition: ContractDefinition;
  readonly chain: Chain;
  readonly items: readonly CallableItem[];
}

async function callOf(
  { query, asker }: ConsoleRequest,
  { data }: ConsoleServices['explorer'],
  { definition, chain, items }: FunctionsFacts,
): Promise<Call | null> {
  const signature = query('function') ?? '';
  if (signature === '') return null;
  const item = items.find((one) => one.type === 'function' && one.signature === signature);
  const [address, block] = [(query('address') ?? firstAddress(definition)).trim(), query('block')?.trim() ?? ''];
  const values = item?.inputs.map((_, index) => query(`input${index}`) ?? '') ?? [];
  const call = { signature, address, block, values };
  if (item === undefined)
    return { ...call, answer: { problem: `The stored ABI has no view function ${cut(signature)}` } };
  if (!isAddress(address))
    return {
      ...call,
      answer: { problem: `${cut(address) || 'An empty text'} is no address (0x and 40 hexadecimal digits)` },
    };
  const requested = { chain: chain.key, function_name: signature, ...(block !== '' && { block }) };
  const target = `/api/v2.2/${address}/function?${new URLSearchParams(requested)}`;
  const params = Object.fromEntries(item.inputs.map(({ name }, index) => [name || index, values[index]]));
  const abi = [item, ...items.filter(({ type }) => type === 'error')];
  const { status, body } = await data.post(target, { abi, params }, asker);
  if (status === 200) return { ...call, answer: { value: body } };
  return { ...call, answer: { problem: messageIn(body) ?? `The API returned HTTP ${status}` } };
}

/** Empty: its contracts are the children of a factory. */
function firstAddress({ addresses, factory }: ContractDefinition): string {
  return factory === null ? (addresses[0] ?? '') : '';
}

interface FunctionsView extends FunctionsFacts {
  readonly call: Call | null;
  readonly problem: string | null;
  /** Refused text of the form. */
  readonly abi: string;
  readonly source: AbiSource | null;
  readonly token: string;
}

const PROBLEM_MAX = 600;

function functionsView(view: FunctionsView): Html {
  const { definition, chain, items, call } = view;
  const { name } = definition;
  const functions = items.filter(({ type }) => type === 'function');
  const unknown = call !== null && functions.every(({ signature }) => signature !== call.signature);
  return html`<h1>${shown(name)}: read contract</h1>
<p class="soft"><a href="/console/contracts">Contracts</a> · <a href="${contractAddress(name, chain.key)}">${shown(name)}, ${chain.key}</a></p>
${unknown && answerView(call, [], chain.key)}
${functions.length === 0 ? html`<p>No view functions are stored. Add them with the complete ABI below.</p>` : html`<p class="hint">Each call reads an upstream. Write arrays and tuples as JSON.</p>`}
${functions.map((item, index) => functionView(item, { id: `f${index}`, definition, chain, call: call?.signature === item.signature ? call : null }))}
${abiForm(view, functions.length === 0)}`;
}

const VALUE_MAX = 4_000;

function functionView(
  { signature, inputs, outputs }: CallableItem,
  {
    id,
    definition,
    chain,
    call,
  }: Pick<FunctionsFacts, 'definition' | 'chain'> & { readonly id: string; readonly call: Call | null },
): Html {
  const field = (name: string, label: Html | string, value: string, more: Html = NOTHING): Html =>
    html`<div><label for="${id}-${name}">${label}</label><input id="${id}-${name}" name="${name}" type="text" value="${cut(value, VALUE_MAX)}" maxlength="${VALUE_MAX}" autocomplete="off" spellcheck="false" ${more}></div>`;
  const fields = inputs.map((input, index) =>
    field(
      `input${index}`,
      html`${shown(input.name || `#${index}`)} <span class="soft">${shown(typeText({ ...input, name: '' }), SIGNATURE_MAX)}</span>`,
      call?.values[index] ?? '',
    ),
  );
  const returned = outputs.map(typeText).join(', ');
  return html`<details id="${id}" ${call !== null && 'open'}><summary><code>${nameParts(signature, SIGNATURE_MAX)}</code></summary>
<form method="get" action="${functionsAddress(definition.name)}#${id}" class="fields form" aria-label="${cut(signature)}">
${hidden({ chain: chain.key, function: signature })}
${fields}
${field('address', 'Contract', call?.address ?? firstAddress(definition))}
${field('block', 'Block', call?.block ?? '', html`placeholder="latest"`)}
<p class="actions"><button>Call</button> <span class="soft">Returns ${returned === '' ? 'nothing' : shown(returned, SIGNATURE_MAX)}</span></p></form>
${call !== null && answerView(call, outputs, chain.key)}</details>`;
}

const SIGNATURE_MAX = 400;

/** With the members of tuples: `(int24 lower, address holder)[] found`. */
function typeText({ name, type, components }: AbiType): string {
  const whole =
    components === undefined ? type : type.replace('tuple', () => `(${components.map(typeText).join(', ')})`);
  return name === '' ? whole : `${whole} ${name}`;
}

function answerView({ answer }: Call, outputs: CallableItem['outputs'], chain: string): Html {
  return 'problem' in answer
    ? html`<p class="problem" role="alert">${shown(answer.problem, PROBLEM_MAX)}</p>`
    : outputsView(outputs, answer.value, chain);
}

function abiForm({ definition, chain, problem, abi, source, token }: FunctionsView, isOpen: boolean): Html {
  const { name } = definition;
  const address = html`<div><label for="address">Address</label><p class="hint" id="address-hint">For a proxy, the address of its implementation.</p><input id="address" name="address" type="text" value="${firstAddress(definition)}" maxlength="42" autocomplete="off" spellcheck="false" aria-describedby="address-hint"></div>`;
  const content = html`${hidden({ name, chain: chain.key })}<div class="fields form"><div><label for="abi">ABI</label><p class="hint" id="abi-hint">JSON from the compiler, or an artifact of Foundry, Hardhat or Truffle. Its view functions and errors are stored.</p><textarea class="code" id="abi" name="abi" rows="8" spellcheck="false" autocomplete="off" aria-describedby="abi-hint">${abi}</textarea></div>
<p class="actions"><button>Add functions</button></p>
${source !== null && html`${address}${sourceButton(source, '/console/contracts/functions/source')}`}</div>`;
  return html`<details ${(isOpen || problem !== null) && 'open'}><summary>Add functions</summary>
${problem !== null && html`<p class="problem" role="alert"><strong>Nothing was added.</strong> ${shown(problem, PROBLEM_MAX)}</p>`}
${changeForm('/console/contracts/functions', token, content, 'Add functions')}</details>`;
}

const TEXT_MAX = 2_000;

/** @param value response of `runContractFunction`: one value, or an object by position */
function outputsView(outputs: readonly AbiType[], value: unknown, chain: string): Html {
  const [only, ...others] = outputs;
  if (only === undefined) return html`<p role="status">The call succeeded and returns nothing.</p>`;
  const facts = outputs.map((output, index): readonly [string, Html] => [
    cut(output.name || (others.length === 0 ? 'Result' : `#${index}`)),
    valueView(output, others.length === 0 ? value : memberOf(value, index), chain),
  ]);
  return html`<div role="status">${record(facts)}</div>`;
}

function valueView(type: AbiType, value: unknown, chain: string): Html {
  if (typeof value === 'object') return jsonText(JSON.stringify(named(type, value)), type.name || type.type);
  const text = String(value);
  if (type.type === 'string') return shown(text, TEXT_MAX);
  const code = html`<code>${cut(text, TEXT_MAX)}</code>`;
  if (type.type !== 'address' || !isAddress(text)) return code;
  return html`<a href="/console/look-up/address/${text.toLowerCase()}?chain=${encodeURIComponent(chain)}">${code}</a>`;
}

/** Responses have each member of a tuple twice, by position and by name. */
function named(type: AbiType, value: unknown): unknown {
  const { components = [] } = type;
  if (Array.isArray(value)) {
    const item = { ...type, type: type.type.slice(0, type.type.lastIndexOf('[')) };
    return value.map((one: unknown) => named(item, one));
  }
  if (components.length === 0) return value;
  const members = components.map((member, index) => named(member, memberOf(value, index)));
  const names = components.map(({ name }) => name);
  if (names.includes('') || new Set(names).size < names.length) return members;
  return Object.fromEntries(names.map((name, index) => [name, members[index]]));
}

function memberOf(value: unknown, index: number): unknown {
  const members: Readonly<Record<number, unknown>> = Object(value);
  return members[index] ?? null;
}
