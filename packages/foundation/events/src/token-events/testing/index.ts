/** For tests of other packages: logs as token contracts emit them. */
export {
  ALICE,
  BOB,
  batchLog,
  CAROL,
  COLLECTION,
  consecutiveLog,
  erc20Log,
  erc721Log,
  placed,
  punkAssignLog,
  punkBoughtLog,
  punkTransferLog,
  rawBatchLog,
  singleLog,
  UINT256_MAX,
  unindexedLog,
} from './example-logs.ts';
