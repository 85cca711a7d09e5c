// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Tells of transfers and approvals that never happened: nobody holds anything of it.
contract LyingToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public constant name = "Free Money";
    string public constant symbol = "FREE";
    uint8 public constant decimals = 18;

    function totalSupply() external pure returns (uint256) {
        return 0;
    }

    function balanceOf(address) external pure returns (uint256) {
        return 0;
    }

    function allowance(address, address) external pure returns (uint256) {
        return 0;
    }

    function pretend(address from, address[] calldata to, uint256 value) external {
        for (uint256 i = 0; i < to.length; i++) emit Transfer(from, to[i], value);
    }

    function pretendApproval(address owner, address spender, uint256 value) external {
        emit Approval(owner, spender, value);
    }
}
