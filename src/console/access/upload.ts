import express, { type Request, type RequestHandler } from 'express';
import { memberOfSession, missingProof } from '../../domain/credentials/staff-session.ts';
import { placesFor } from '../../http/places.ts';
import type { Service } from '../../service/service.ts';
import { mayUse, pathTo } from '../routes.ts';
import { ConsoleError } from '../visit.ts';

/** The largest statement that the console takes. The command line takes larger ones. */
export const MAX_UPLOAD_BYTES = 10 * 1_048_576;

/** Forms with a file that are read at once. */
const UPLOADS = { all: 3, ofMember: 1 };

const ARE_BUSY = 'Other files are being read now. Go back, and send the form again in a moment';

/** A form has fewer fields. */
const MAX_PARTS = 50;

/** The largest file that a form keeps after an error: its page has the file once more. */
export const MAX_KEPT_BYTES = 2 * 1_048_576;

/** A file of a form. */
export interface Upload {
  name: string;
  content: Buffer;
}

/**
 * Reads forms with a file, of members who may send one and at the one address that takes them. Other
 * such forms stay unread, and lack their token.
 */
export function readUploads({ database }: Pick<Service, 'database'>): RequestHandler[] {
  const raw = express.raw({ type: 'multipart/form-data', limit: MAX_UPLOAD_BYTES });
  const take = placesFor(UPLOADS);
  const memberOf = async ({ method, path, sessionID: sid, session: { staff } }: Request) => {
    if (method !== 'POST' || path !== pathTo('statementNew') || !staff) return null;
    const found = await memberOfSession(database, staff, { sid, isUse: false });
    if (!found || missingProof(found.member, found.session) !== null) return null;
    return mayUse(found.member.role, 'statementNew') ? found.member : null;
  };
  return [
    async (req, res, next) => {
      const member = await memberOf(req);
      if (!member) return next();
      const leave = take(member.email);
      if (!leave) throw new ConsoleError(503, ARE_BUSY);
      res.once('close', leave);
      raw(req, res, next);
    },
    async (req, _res, next) => {
      if (Buffer.isBuffer(req.body)) req.body = await fieldsOf(req, req.body);
      next();
    },
  ];
}

async function fieldsOf(req: Request, body: Buffer): Promise<Record<string, string | Upload>> {
  const headers = { 'content-type': req.get('content-type') ?? '' };
  if (hasManyParts(headers['content-type'], body)) return {};
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null);
  const fields: Record<string, string | Upload> = {};
  for (const [name, value] of form ?? []) {
    fields[name] =
      typeof value === 'string'
        ? value
        : { name: value.name, content: Buffer.from(await value.arrayBuffer()) };
  }
  return fields;
}

/** The type as browsers write it. Readers differ about others, and would count other parts than are read. */
const FORM_TYPE = /^multipart\/form-data; ?boundary=("?)([\w'()+,./:=?-]{1,70})\1$/;

/**
 * Tells whether a body has more parts than a form, or is not of the type that browsers send. To take it apart would
 * stop all others meanwhile.
 */
export function hasManyParts(contentType: string, body: Buffer): boolean {
  const boundary = FORM_TYPE.exec(contentType)?.[2];
  if (boundary === undefined) return true;
  let count = 0;
  for (let at = body.indexOf(boundary); at >= 0 && count <= MAX_PARTS; count += 1) {
    at = body.indexOf(boundary, at + boundary.length);
  }
  return count > MAX_PARTS;
}

/** Returns the file that a form has kept after an error, or null. */
export function keptIn({ kept_name, kept_file }: Readonly<Record<string, string>>): Upload | null {
  if (!kept_name || !kept_file) return null;
  return { name: kept_name, content: Buffer.from(kept_file, 'base64') };
}

/** Returns the file of a field, or null when none was chosen. */
export function uploadIn({ body }: Request, name: string): Upload | null {
  const value = (body as Record<string, unknown>)[name];
  const isFile = typeof value === 'object' && value !== null && 'content' in value;
  return isFile && (value as Upload).content.length > 0 ? (value as Upload) : null;
}
