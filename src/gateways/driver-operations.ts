import { DARAJA_OPERATIONS } from './daraja/operations.ts';
import type { DriverOperations } from './driver.ts';

/**
 * The operations of drivers on the command line, by the name of the driver. They stand apart from
 * the drivers, because help lists them and must load no client of a gateway.
 */
export const DRIVER_OPERATIONS: Readonly<Record<string, DriverOperations>> = {
  daraja: DARAJA_OPERATIONS,
};
