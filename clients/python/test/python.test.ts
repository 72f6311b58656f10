import { fileURLToPath } from 'node:url';
import { describeClientFile } from '../../../test/support/client-file.ts';

const DRIVER = fileURLToPath(new URL('driver.py', import.meta.url));

describeClientFile('Python', ['python3', DRIVER]);
