// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

/// A price feed with the event and the questions of Chainlink's aggregators. Anyone may answer.
contract DemoEtherFeed {
    event AnswerUpdated(int256 indexed current, uint256 indexed roundId, uint256 updatedAt);

    uint8 public constant decimals = 8;
    string public constant description = "ETH / USD";
    int256 public latestAnswer;
    uint256 public latestRound;
    uint256 public latestTimestamp;

    function answer(int256 current) external {
        latestAnswer = current;
        latestRound += 1;
        latestTimestamp = block.timestamp;
        emit AnswerUpdated(current, latestRound, block.timestamp);
    }

    function latestRoundData() external view returns (uint80, int256, uint256, uint256, uint80) {
        uint80 round = uint80(latestRound);
        return (round, latestAnswer, latestTimestamp, latestTimestamp, round);
    }
}
