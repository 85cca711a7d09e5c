// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// The one function of Multicall3 that balances are read by.
contract Multicall3 {
    struct Call3 {
        address target;
        bool allowFailure;
        bytes callData;
    }
    struct Result {
        bool success;
        bytes returnData;
    }

    function aggregate3(Call3[] calldata calls) external payable returns (Result[] memory returnData) {
        returnData = new Result[](calls.length);
        for (uint256 i = 0; i < calls.length; i++)
            (returnData[i].success, returnData[i].returnData) = calls[i].target.call(calls[i].callData);
    }
}
