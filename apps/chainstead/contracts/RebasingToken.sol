// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Holders own shares; what a share is worth changes for all of them at once, without a Transfer. Transfers round down, and say what was meant.
contract RebasingToken {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event Approval(address indexed owner, address indexed spender, uint256 value);

    string public constant name = "Rebasing Share";
    string public constant symbol = "RBS";
    uint8 public constant decimals = 9;
    mapping(address => mapping(address => uint256)) public allowance;
    mapping(address => uint256) private shares;
    uint256 private allShares;
    uint256 private percent = 100;

    function totalSupply() external view returns (uint256) {
        return (allShares * percent) / 100;
    }

    function balanceOf(address owner) public view returns (uint256) {
        return (shares[owner] * percent) / 100;
    }

    function rebase(uint256 next) external {
        percent = next;
    }

    function mint(address to, uint256 value) external {
        uint256 some = (value * 100) / percent;
        shares[to] += some;
        allShares += some;
        emit Transfer(address(0), to, value);
    }

    function approve(address spender, uint256 value) external returns (bool) {
        allowance[msg.sender][spender] = value;
        emit Approval(msg.sender, spender, value);
        return true;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        return move(msg.sender, to, value);
    }

    function transferFrom(address from, address to, uint256 value) external returns (bool) {
        if (allowance[from][msg.sender] != type(uint256).max) allowance[from][msg.sender] -= value;
        return move(from, to, value);
    }

    function move(address from, address to, uint256 value) private returns (bool) {
        uint256 some = (value * 100) / percent;
        shares[from] -= some;
        shares[to] += some;
        emit Transfer(from, to, value);
        return true;
    }
}
