import type { Figure } from './figures.ts';
import type { BenchOptions } from './options.ts';
import type { Stage } from './stage.ts';

/** One thing to measure, on a stage of its own. */
export interface Scenario {
  name: string;
  /** One line for people. */
  title: string;
  /** Takes so long that it is only run when it is named. */
  onlyByName?: boolean;
  /** Has its queues in Redis wherever there is one. */
  redis?: boolean;
  run(run: ScenarioRun): Promise<ScenarioResult>;
}

export interface ScenarioRun {
  stage: Stage;
  options: BenchOptions;
  /** Tells how far it is, one line at a time. */
  say(line: string): void;
}

export interface ScenarioResult {
  figures: Figure[];
  /** What must be said with the figures, one line each. */
  notes: string[];
  /** The plans of its statements, where they were asked for. */
  plans?: Plan[];
  /** The first request that was refused or failed, or what else is not as it must be. */
  firstError: string | null;
}

export interface Plan {
  name: string;
  /** As PostgreSQL prints it. */
  text: string;
}
