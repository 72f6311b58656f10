import {
  type Certificates,
  makeCertificates as makeIn,
} from '../../scripts/sandbox/processes/certificates.ts';
import { makeFolder } from './make-folder.ts';

export type { Certificates };

/** Makes certificates in a folder of the test run. */
export function makeCertificates(names: string): Promise<Certificates> {
  return makeIn(makeFolder('certificates'), names);
}
