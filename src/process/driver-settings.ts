import type { z } from 'zod';

/** A rule across variables: whether it is broken, and the line to show then. */
export type Check = [isBroken: unknown, line: string];

/** Environment variables by name, each with its type, its description and its default. */
export type SettingShape = Readonly<Record<string, z.ZodType>>;

/** The part of the configuration that one gateway driver states. */
export interface DriverSettings<Shape extends SettingShape = SettingShape> {
  /** The name in CHANNELS. */
  name: string;
  /** The environment variables of the driver. */
  settings: Shape;
  /** The codes of the channels that the driver carries while CHANNELS is not set. */
  usualChannels?: readonly number[];
  /** The rules across variables that concern the driver. */
  rules?(environment: DriverEnvironment<Shape>): Check[];
  /** The rules for production alone. */
  productionRules?(environment: DriverEnvironment<Shape>): Check[];
}

/** What the environment says to a driver. A variable with a wrong text has no value. */
export interface DriverEnvironment<Shape extends SettingShape> {
  /** The texts of all variables. */
  given: Readonly<Record<string, string | undefined>>;
  values: Partial<z.output<z.ZodObject<Shape>>>;
  /** The codes of the channels that CHANNELS gives to the driver. */
  channels: readonly number[];
}
