// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// Everything that a call can cause: value that moves inside, that moves back, contracts that are made and end, calls that fail inside or whole.
contract Playground {
    event Poked(address indexed by, uint256 value, string words);
    event Made(address indexed child);

    error Refused(address by, uint256 value);

    receive() external payable {}

    function poke(string calldata words) external payable {
        emit Poked(msg.sender, msg.value, words);
    }

    /// The value goes on to somebody else.
    function pass(address payable to) external payable {
        _send(to, msg.value);
    }

    /// Half of the value goes to each of two, in calls of a call.
    function split(address payable one, address payable other) external payable {
        this.pass{value: msg.value / 2}(one);
        this.pass{value: msg.value - msg.value / 2}(other);
    }

    /// The value moves inside a call that fails afterwards: it comes back, and the transaction succeeds.
    function tryPass(address payable to) external payable {
        try this.passAndFail{value: msg.value}(to) {} catch {}
    }

    function passAndFail(address payable to) external payable {
        _send(to, msg.value);
        revert Refused(msg.sender, msg.value);
    }

    function fail() external payable {
        revert Refused(msg.sender, msg.value);
    }

    function make() external payable returns (address) {
        return _made(address(new PlaygroundChild{value: msg.value}()));
    }

    /// By CREATE2; the same salt a second time fails.
    function makeAt(bytes32 salt) external payable returns (address) {
        return _made(address(new PlaygroundChild{value: msg.value, salt: salt}()));
    }

    /// Made and ended within one transaction.
    function makeAndEnd(address payable to) external payable {
        PlaygroundChild child = new PlaygroundChild{value: msg.value}();
        child.end(to);
    }

    function end(PlaygroundChild child, address payable to) external {
        child.end(to);
    }

    /// Reads alone.
    function watch() external view returns (uint256) {
        return this.balance();
    }

    function balance() external view returns (uint256) {
        return address(this).balance;
    }

    function _made(address child) private returns (address) {
        emit Made(child);
        return child;
    }

    function _send(address payable to, uint256 value) private {
        (bool isSent, ) = to.call{value: value}("");
        if (!isSent) revert Refused(to, value);
    }
}

contract PlaygroundChild {
    constructor() payable {}

    receive() external payable {}

    function end(address payable to) external {
        selfdestruct(to);
    }
}
