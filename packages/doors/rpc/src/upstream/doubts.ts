import { RpcCallError, type UpstreamFault } from '../errors.ts';
import type { Upstream } from './upstream.ts';

/** Only further responses show whose errors they are. */
export class Doubts {
  #faults: { readonly upstream: Upstream; readonly fault: UpstreamFault }[] | null = null;

  add(upstream: Upstream, fault: UpstreamFault): void {
    this.#faults ??= [];
    this.#faults.push({ upstream, fault });
  }

  get size(): number {
    return this.#faults?.length ?? 0;
  }

  get isRepeated(): boolean {
    const faults = this.#faults ?? [];
    const latest = faults.at(-1)?.fault;
    return latest !== undefined && faults.slice(0, -1).some(({ fault }) => saysTheSame(fault, latest));
  }

  clear(): void {
    this.#faults = null;
  }

  count(): void {
    for (const { upstream, fault } of this.#faults ?? []) upstream.suspect(fault);
    this.#faults = null;
  }
}

export function saysTheSame(a: UpstreamFault, b: UpstreamFault): boolean {
  return a.said?.code === b.said?.code && a.text === b.text;
}

export function asVerdict(fault: UpstreamFault, about: RpcCallError['about']): RpcCallError | null {
  const { upstream, method, said } = fault;
  if (said === undefined) return null;
  const { code, message, data } = said;
  return new RpcCallError({ upstream, method, rpcCode: code, rpcMessage: message, rpcData: data, about });
}
