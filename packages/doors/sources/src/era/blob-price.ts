export { BLOB_GAS, blobGasPrice } from '@chainstead/chains/fees';
