/** Bodies of webhooks as both sides send them: a token's transfer with its transaction, about 2,500 bytes. */

export const BENCHMARK_TOKEN = account(7);
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The body as it is kept before it is sent; its hashes carry the number. */
export function preparedBody(streamId: string, number: number): string {
  const hash = word(number, 'a');
  const [from, to, token] = [account(number), account(number + 1), BENCHMARK_TOKEN];
  const triggered = { triggered_by: [from] };
  return JSON.stringify({
    chainId: '0x1',
    abi: [],
    streamId,
    tag: 'benchmark',
    block: { number: String(number), hash: blockHash(number), timestamp: '1700000000' },
    logs: [
      {
        logIndex: '3',
        transactionHash: hash,
        address: token,
        data: word(1_000_000 + number, '0'),
        topic0: TRANSFER,
        topic1: `0x${from.slice(2).padStart(64, '0')}`,
        topic2: `0x${to.slice(2).padStart(64, '0')}`,
        topic3: null,
        ...triggered,
      },
    ],
    txs: [
      {
        hash,
        gas: '120000',
        gasPrice: '1000000007',
        nonce: '7',
        input: `0xa9059cbb${to.slice(2).padStart(64, '0')}${word(number, '0').slice(2)}`,
        transactionIndex: '0',
        fromAddress: from,
        toAddress: token,
        value: '0',
        type: '2',
        v: '1',
        r: '78456093870954267490293475609384756093487560934856093845609384750',
        s: '16098347560983475609834756098347560983475609834756098347560983475',
        receiptCumulativeGasUsed: '120000',
        receiptGasUsed: '120000',
        receiptContractAddress: null,
        receiptRoot: null,
        receiptStatus: '1',
        transactionFee: '0.00012000000084',
        ...triggered,
      },
    ],
    txsInternal: [],
    erc20Transfers: [
      {
        transactionHash: hash,
        contract: token,
        logIndex: '3',
        from,
        to,
        value: String(1_000_000 + number),
        tokenName: 'Benchmark Token',
        tokenSymbol: 'BENCH',
        tokenDecimals: '6',
        valueWithDecimals: String((1_000_000 + number) / 1_000_000),
        logo: null,
        thumbnail: null,
        possibleSpam: false,
        verifiedContract: false,
        ...triggered,
      },
    ],
    erc20Approvals: [],
    nftTokenApprovals: [],
    nftApprovals: { ERC721: [], ERC1155: [] },
    nftTransfers: [],
    nativeBalances: [],
  });
}

/** The body as it is sent at the first attempt. */
export function sentBody(streamId: string, number: number): string {
  return `{"confirmed":false,"retries":0,${preparedBody(streamId, number).slice(1)}`;
}

/** The hash of the block of a webhook. */
export function blockHash(number: number): string {
  return word(number, 'b');
}

function account(number: number): string {
  return `0x${number.toString(16).padStart(40, 'c')}`;
}

function word(number: number, filler: string): string {
  return `0x${number.toString(16).padStart(64, filler)}`;
}
