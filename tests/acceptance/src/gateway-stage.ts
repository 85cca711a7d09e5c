/** The real program's gateway over upstreams that a test brings. */
import { type Closable, closeOf, createScratchDatabase, startProgram } from '@chainstead/testkit';

export const GATEWAY_KEY = '0123456789abcdef0123456789abcdef';

/** A program that serves the gateway alone. */
export interface GatewayStage extends Closable {
  /** `http://127.0.0.1:<port>`. */
  readonly api: string;
  /** URL of the chain, with the key. */
  readonly url: string;
  /** One call. */
  call(method: string, params?: readonly unknown[]): Promise<GatewayReply>;
  /** What the program wrote. */
  output(): string;
}

export interface GatewayReply {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface GatewayStageOptions {
  readonly chainId: number;
  readonly upstreams: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The chain is called `devnet`. Closed by the caller. */
export async function startGateway({
  chainId,
  upstreams,
  environment,
}: GatewayStageOptions): Promise<GatewayStage> {
  await using parts = new AsyncDisposableStack();
  const scratch = parts.adopt(await createScratchDatabase(), (one) => one.drop());
  const program = parts.adopt(
    startProgram(['start', '--roles', 'api'], {
      environment: {
        DATABASE_URL: scratch.url,
        PORT: '0',
        API_KEYS: GATEWAY_KEY,
        CHAINS: 'devnet',
        CHAIN_ID_DEVNET: String(chainId),
        RPC_URLS_DEVNET: upstreams.join(','),
        POLL_INTERVAL_MS: '50',
        LOG_LEVEL: 'debug',
        ...environment,
      },
    }),
    (one) => one.kill(),
  );
  const api = await program.url;
  const url = `${api}/devnet/${GATEWAY_KEY}`;
  return {
    api,
    url,
    async call(method, params = []) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      return (await response.json()) as GatewayReply;
    },
    output: () => program.output(),
    ...closeOf(parts),
  };
}
