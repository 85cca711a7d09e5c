// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Emits whatever logs it is told, and makes calls one after the other in one transaction. Its code can be put at any
/// address, to stand there for a contract of which only the events are known.
contract LogEmitter {
    struct Call {
        address target;
        bytes data;
    }

    function emitLog(bytes32[] calldata topics, bytes calldata data) external {
        bytes memory bytes_ = data;
        uint256 count = topics.length;
        require(count <= 4, "more than four topics");
        bytes32 topic0 = count > 0 ? topics[0] : bytes32(0);
        bytes32 topic1 = count > 1 ? topics[1] : bytes32(0);
        bytes32 topic2 = count > 2 ? topics[2] : bytes32(0);
        bytes32 topic3 = count > 3 ? topics[3] : bytes32(0);
        assembly ("memory-safe") {
            let start := add(bytes_, 32)
            let size := mload(bytes_)
            switch count
            case 0 { log0(start, size) }
            case 1 { log1(start, size, topic0) }
            case 2 { log2(start, size, topic0, topic1) }
            case 3 { log3(start, size, topic0, topic1, topic2) }
            default { log4(start, size, topic0, topic1, topic2, topic3) }
        }
    }

    function run(Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool success, bytes memory reason) = calls[i].target.call(calls[i].data);
            if (!success) {
                assembly ("memory-safe") {
                    revert(add(reason, 32), mload(reason))
                }
            }
        }
    }
}
